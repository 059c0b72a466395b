"""windtunnel price and windtunnel rehearse: what a recipe costs on the chip, charged to the training clock."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from program import PROGRAM, ProgramTest  # noqa: E402

ONE_CORE = ["--set", "machine.ranks=1", "--set", "train.steps=0", "--set", "schedule.by=time", "--set", "train.budget=4", "--set", "clock.reserve=1", "--set", "train.save_every=1"]


class Rehearse(ProgramTest):
    def ledger(self, run):
        return [json.loads(line) for line in (pathlib.Path(run) / "ledger.jsonl").read_text().splitlines()]

    def bits(self, run):
        return [(pathlib.Path(run) / "checkpoint" / name).read_bytes() for name in ("model.safetensors", "optimizer.safetensors")]

    def rehearse(self, run, *more):
        done = self.call("rehearse", self.recipe, "--run", run, *ONE_CORE, "--json", *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout), done.stderr

    def test_it_stops_where_the_chip_would(self):
        result, said = self.rehearse(self.folder / "whole")
        chip = result["chip"]
        self.assertIn("a step", said)
        self.assertIn("this machine takes about", said)
        self.assertEqual(result["stopped"], "budget")
        self.assertLessEqual(chip["counted_seconds"], 4)
        self.assertGreater(chip["counted_seconds"], 4 - 1 - 2 * chip["step_seconds"])
        self.assertGreater(result["bpb"]["val_bpb"], 0)
        rows = self.ledger(self.folder / "whole")
        self.assertAlmostEqual(sum(row["seconds"] for row in rows), chip["charged_seconds"], places=5)
        self.assertEqual(sum(row["reason"] == "step" for row in rows), chip["steps"])
        self.assertEqual([row["reason"] for row in rows[:3]], ["startup", "compile", "step"])
        price = json.loads(self.ok("price", self.recipe, *ONE_CORE, "--json"))
        self.assertAlmostEqual(price["step_seconds"], chip["step_seconds"])
        for key in ("tokens_per_second", "mfu", "steps_in_budget", "hbm_bytes_peak", "waterfall", "ops", "evidence"):
            self.assertIn(key, price)

    def test_a_killed_one_goes_on_to_the_same_ledger(self):
        self.rehearse(self.folder / "unbroken", "--no-eval")
        environment = dict(os.environ, WINDTUNNEL_CACHE=str(self.folder / "cache"))
        words = ["rehearse", self.recipe, "--run", self.run_folder, *ONE_CORE, "--no-eval"]
        child = subprocess.Popen([PROGRAM, *map(str, words)], cwd=self.folder, env=environment,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        with child.stderr:
            for line in child.stderr:
                if "train step" in line:
                    break
        child.kill()
        child.wait()
        self.ok("rehearse", "--resume", self.run_folder, "--no-eval")
        self.assertEqual(self.bits(self.folder / "unbroken"), self.bits(self.run_folder))
        whole, broken = ([(row["reason"], row["total"]) for row in self.ledger(run)]
                         for run in (self.folder / "unbroken", self.run_folder))
        self.assertEqual(whole, broken)

    def test_a_miniature_says_that_it_is_one(self):
        result, said = self.rehearse(self.folder / "small", "--scale", "0.5", "--no-eval")
        self.assertIn("MINIATURE", said)
        self.assertTrue(result["chip"]["miniature"])
        self.assertEqual(result["chip"]["tokens"], result["tokens"] * result["chip"]["token_scale"])

    def test_errors(self):
        self.fails("rehearse", saying=["give a RECIPE, or --resume RUN"])
        self.fails("rehearse", self.recipe, *ONE_CORE, "--scale", "3", saying=["at most 1"])
        self.fails("rehearse", self.recipe, *ONE_CORE, "--rules", "other", saying=["there are: frontier-2026-phase1"])
        self.fails("train", self.recipe, "--set", "clock.kind=trn2", saying=["windtunnel rehearse"])


if __name__ == "__main__":
    unittest.main()
