"""windtunnel price: what it prints, its JSON, its errors, and how long it takes."""
import csv
import json
import os
import pathlib
import subprocess
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("WINDTUNNEL_BIN", str(ROOT / "build/release/windtunnel"))


def price(*arguments):
    return subprocess.run([PROGRAM, "price", str(ROOT / "recipes/baseline.toml"), *arguments], capture_output=True,
                          text=True, check=False)


class PriceTest(unittest.TestCase):
    def test_text_says_where_the_step_goes(self):
        done = price()
        self.assertEqual(done.returncode, 0, done.stderr)
        for part in ("step  ", "tokens/s", "MFU", "where the step goes", "memory_passes", "ops that take longest", "HBM"):
            self.assertIn(part, done.stdout)

    def test_json_adds_up(self):
        done = price("--json", "--set", "model.depth=9", "--set", "toolchain.opt_level=1")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertAlmostEqual(sum(result["waterfall"].values()), result["step_seconds"], places=9)
        self.assertLess(result["step_seconds_low"], result["step_seconds"])
        self.assertEqual(result["steps_in_budget"], int(1800 / result["step_seconds"]))
        self.assertAlmostEqual(sum(result["evidence"].values()), 1, places=9)

    def test_is_quick(self):
        start = time.monotonic()
        price("--json")
        self.assertLess(time.monotonic() - start, 2)

    def test_sweep_makes_a_row_of_each_combination(self):
        axes = ("--sweep", "model.depth=8,9", "--sweep", "model.head_dim=128,96")
        rows = json.loads(price(*axes, "--json").stdout)["rows"]
        self.assertEqual([row["set"]["model.depth"] for row in rows], ["8", "8", "9", "9"])
        self.assertIn("head_dim", rows[1]["error"])
        alone = json.loads(price("--json", "--set", "model.depth=9").stdout)
        for key in ("step_seconds", "tokens_in_budget", "hbm_bytes_peak"):
            self.assertEqual(rows[2][key], alone[key])
        lines = list(csv.DictReader(price(*axes, "--csv").stdout.splitlines()))
        self.assertEqual(float(lines[2]["step_seconds"]), alone["step_seconds"])
        self.assertEqual(lines[1]["step_seconds"], "")
        self.assertEqual(lines[1]["error"], rows[1]["error"])

    def test_sweep_of_an_unknown_key(self):
        done = price("--sweep", "model.dept=1,2")
        self.assertEqual(done.returncode, 1)
        self.assertIn("model.depth", done.stderr)

    def test_misspelt_key_names_the_nearest(self):
        done = price("--set", "toolchain.opt_levl=2")
        self.assertEqual(done.returncode, 1)
        self.assertIn("opt_level", done.stderr)

    def test_what_does_not_fit_is_told_with_changes(self):
        done = price("--set", "train.rows_per_core=512", "--set", "train.tokens_per_step=4194304")
        self.assertEqual(done.returncode, 1)
        self.assertIn("too much", done.stderr)
        self.assertIn("train.rows_per_core = ", done.stderr)


if __name__ == "__main__":
    unittest.main()
