"""windtunnel price under toolchain.mode = "kernels", and with kernels of one's own."""
import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("WINDTUNNEL_BIN", str(ROOT / "build/release/windtunnel"))
SMALL = ["--set", "model.depth=1", "--set", "train.rows_per_core=2", "--set", "train.tokens_per_step=16384"]


class PriceKernelsTest(unittest.TestCase):
    def setUp(self):
        self.cache = tempfile.TemporaryDirectory()
        self.addCleanup(self.cache.cleanup)

    def price(self, *arguments):
        words = [PROGRAM, "price", str(ROOT / "recipes/baseline.toml"), *SMALL, *arguments]
        return subprocess.run(words, capture_output=True, text=True, check=False,
                              env=dict(os.environ, WINDTUNNEL_CACHE=self.cache.name))

    def test_every_op_has_its_kernel(self):
        first = self.price("--json", "--set", "toolchain.mode=kernels")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("kernel 1 of ", first.stderr)
        result = json.loads(first.stdout)
        for op in result["ops"]:
            for key in ("seconds", "mfu", "bytes_per_second", "bound"):
                self.assertIn(key, op)
            self.assertIn("kernel", op, op["op"]) if op["op"] != "zero" else None
        self.assertAlmostEqual(sum(result["waterfall"].values()), result["step_seconds"], places=9)
        start = time.monotonic()
        again = self.price("--json", "--set", "toolchain.mode=kernels")
        self.assertLess(time.monotonic() - start, 2)
        self.assertEqual(again.stdout, first.stdout)
        self.assertEqual(again.stderr, "")

    def test_own_kernel_is_checked_first(self):
        done = self.price("--set", "kernels.rms_norm=rmsnorm.py:rms_norm")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("rms_norm: rmsnorm.py:rms_norm agrees with the host op", done.stdout)

    def test_wrong_kernel_is_refused(self):
        own = pathlib.Path(self.cache.name) / "own.py"
        text = (ROOT / "kernels/rmsnorm.py").read_text(encoding="utf-8")
        own.write_text(text.replace("op=nl.rsqrt", "op=nl.sqrt"), encoding="utf-8")
        for name in ("tiles", "pointwise"):
            (own.parent / f"{name}.py").write_text((ROOT / f"kernels/{name}.py").read_text(encoding="utf-8"))
        done = self.price("--set", f"kernels.rms_norm={own}:rms_norm")
        self.assertEqual(done.returncode, 1)
        for part in ("rms_norm", "the first is", "instead of", "kernels/rmsnorm.py:rms_norm"):
            self.assertIn(part, done.stderr)

    def test_unknown_op_and_file(self):
        self.assertIn("rms_norm", self.price("--set", "kernels.rms_nrm=own.py:f").stderr)
        self.assertIn("no such file", self.price("--set", "kernels.rms_norm=nowhere.py:f").stderr)


if __name__ == "__main__":
    unittest.main()
