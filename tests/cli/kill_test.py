"""kill -9 at ten random moments: each time the run resumes, and in the end its bits are those of an unbroken run."""
import os
import pathlib
import random
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from program import PROGRAM, ProgramTest  # noqa: E402


class Kill(ProgramTest):
    def bits(self, run):
        return [(run / "checkpoint" / name).read_bytes() for name in ("model.safetensors", "optimizer.safetensors")]

    def test_ten_kills(self):
        more = ["--set", "train.steps=400", "--set", "train.save_every=0.05", "--set", "data.shuffle_pool=8",
                "--set", "data.streams=2", "--no-eval"]
        start = time.monotonic()
        self.ok("train", self.recipe, "--run", self.folder / "whole", *more)
        whole_seconds = time.monotonic() - start
        environment = dict(os.environ, WINDTUNNEL_CACHE=str(self.folder / "cache"))
        draw = random.Random(7)
        kills = 0
        while kills < 10:
            words = (["train", "--resume", self.run_folder, "--no-eval"] if (self.run_folder / "recipe.toml").exists()
                     else ["train", self.recipe, "--run", self.run_folder, *more])
            child = subprocess.Popen([PROGRAM, *map(str, words)], cwd=self.folder, env=environment,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            try:
                child.wait(timeout=draw.uniform(0.05, 0.25) * whole_seconds + 0.05)
                self.assertEqual(child.returncode, 0, child.stderr.read())
                break  # it was done before we were
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                kills += 1
            finally:
                child.stderr.close()
        self.assertGreaterEqual(kills, 3)
        self.ok("train", "--resume", self.run_folder, "--no-eval")
        self.assertEqual(self.bits(self.folder / "whole"), self.bits(self.run_folder))


if __name__ == "__main__":
    unittest.main()
