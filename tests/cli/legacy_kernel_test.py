"""windtunnel kernel run, profile and check on kernels of neuronxcc.nki: masks, launch grids, their tool chain."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from program import PROGRAM  # noqa: E402

KERNELS = '''
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


@nki.jit
def scaled(x, factor=2.0):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(x.shape[0] // 128):
        rows = i * 128 + nl.arange(128)[:, None]
        columns = nl.arange(x.shape[1])[None, :]
        nl.store(out[rows, columns], nl.multiply(nl.load(x[rows, columns]), factor))
    return out


def scaled_reference(x, factor=2.0):
    return x * factor


@nki.jit
def ragged(x):
    """Row sums of a tile that a mask loads in part: what is left out is read and not kept."""
    out = nl.ndarray((x.shape[0], 1), dtype=x.dtype, buffer=nl.shared_hbm)
    rows, columns = nl.arange(128)[:, None], nl.arange(x.shape[1])[None, :]
    for i in nl.affine_range((x.shape[0] + 127) // 128):
        inside = i * 128 + rows < x.shape[0]
        tile = nl.load(x[i * 128 + rows, columns], mask=inside)
        total = nl.sum(nl.exp(tile), axis=1, keepdims=True)
        nl.store(out[i * 128 + rows, nl.arange(1)[None, :]], total, mask=inside)
    return out


def ragged_reference(x):
    return np.exp(x).sum(axis=1, keepdims=True)


@nki.jit
def programs(x):
    """A program a tile of 128 by 64."""
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    rows = nl.program_id(0) * 128 + nl.arange(128)[:, None]
    columns = nl.program_id(1) * 64 + nl.arange(64)[None, :]
    nl.store(out[rows, columns], nl.exp(nl.load(x[rows, columns])))
    return out


def programs_reference(x):
    return np.exp(x)


def undecorated(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(x) + 1)
    return out
'''


class LegacyKernelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.held.cleanup)
        cls.file = pathlib.Path(cls.held.name) / "older.py"
        cls.file.write_text(KERNELS)

    def run_command(self, command, kernel, *words):
        return subprocess.run([PROGRAM, "kernel", command, f"{self.file}:{kernel}", *words], text=True, capture_output=True,
                              timeout=100)

    def ok(self, command, kernel, *words):
        done = self.run_command(command, kernel, *words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def refused(self, saying, command, kernel, *words):
        done = self.run_command(command, kernel, *words)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn(saying, done.stderr)

    def check(self, kernel, *words):
        return self.ok("check", kernel, "--reference", f"{kernel}_reference", "--seeds", "1", "--json", *words)

    def test_a_plain_kernel_runs_and_is_right(self):
        result = self.ok("run", "scaled", "--arg", "x=256x32:f32", "--arg", "factor=3.0", "--json")
        self.assertEqual(result["outputs"][0]["shape"], [256, 32])
        self.assertTrue(self.check("scaled", "--arg", "x=256x32:f32")["cases"][0]["right"])

    def test_what_a_mask_leaves_out_may_be_read(self):
        result = self.ok("run", "ragged", "--arg", "x=200x32:f32", "--json")
        self.assertEqual(result["outputs"][0]["not_finite"], 0)
        self.assertTrue(self.check("ragged", "--arg", "x=200x32:f32")["cases"][0]["right"])

    def test_a_profile_is_that_of_the_older_tool_chain(self):
        words = ("ragged", "--arg", "x=200x32:f32", "--no-band", "--json", "-")
        own, older, newer = (self.ok("profile", *words, *policy) for policy in
                             ((), ("--policy", "neuronx-cc-2"), ("--policy", "nki-0.6")))
        self.assertEqual(own["latency_us"], older["latency_us"])
        self.assertNotEqual(own["latency_us"], newer["latency_us"])

    def test_a_launch_grid_on_one_core_and_on_two(self):
        for words in (("--grid", "2,4"), ("--grid", "nc2,4", "--lnc", "2")):
            self.assertTrue(self.check("programs", "--arg", "x=256x256:f32", *words)["cases"][0]["right"], words)

    def test_a_grid_that_is_missing_or_misplaced(self):
        self.refused("--grid", "run", "programs", "--arg", "x=256x256:f32")
        self.refused("--lnc 2", "run", "programs", "--arg", "x=256x256:f32", "--grid", "nc2,4")
        self.refused("expected numbers of programs", "run", "programs", "--arg", "x=256x256:f32", "--grid", "2xa")

    def test_a_function_without_decorator_is_of_the_generation_that_its_file_imports(self):
        self.assertEqual(self.ok("run", "undecorated", "--arg", "x=128x8:f32", "--json")["outputs"][0]["shape"], [128, 8])


if __name__ == "__main__":
    unittest.main()
