"""windtunnel kernel run, profile and check, on the kernels of this repository and on wrong ones."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from program import PROGRAM, ROOT  # noqa: E402

KERNELS = ROOT / "kernels"

# Kernel, its reference and the smallest arguments that still use every loop.
LIBRARY = [
    ("matmul.py:matmul_tiled", "matmul_reference", ["lhsT=256x256:bf16", "rhs=256x1024:bf16"]),
    ("matmul.py:matmul_hoisted", "matmul_reference", ["lhsT=256x256:f32", "rhs=256x1024:f32"]),
    ("matmul.py:matmul_blocked", "matmul_reference", ["lhsT=256x256:bf16", "rhs=256x1024:bf16"]),
    ("matmul.py:matmul_blocked_k", "matmul_reference",
     ["lhsT=512x256:f32", "rhs=512x1024:f32", "tiles_in_block_m=2", "tiles_in_block_k=2"]),
    ("rmsnorm.py:rmsnorm", "rmsnorm_reference", ["x=256x384:bf16", "gain=1x384:f32"]),
    ("softmax.py:softmax", "softmax_reference", ["x=256x300:f32"]),
    ("attention.py:attention", "attention_reference",
     ["q=1x640x128:bf16", "k=1x640x64:bf16", "v=1x640x64:bf16", "head_dim=64", "window=300"]),
    ("attention.py:attention_bounded", "attention_reference",
     ["q=1x640x128:f32", "k=1x640x64:f32", "v=1x640x64:f32", "head_dim=64", "window=300"]),
    ("cross_entropy.py:softcap_cross_entropy", "softcap_cross_entropy_reference",
     ["xT=256x128:bf16", "w=256x1024:bf16", "target=128x1:i32"]),
    ("adamw.py:adamw", "adamw_reference", [f"{name}=128x2500:f32" for name in "pgm"] + ["v=@v"]),
]


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], text=True, capture_output=True, timeout=200)


class KernelTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def arguments(self, args):
        """--arg options; @v is a file of second moments, which are not negative."""
        import numpy as np
        options = []
        for arg in args:
            if arg.endswith("=@v"):
                path = self.folder / "v.npy"
                np.save(path, np.square(np.random.default_rng(3).standard_normal((128, 2500))).astype(np.float32))
                arg = arg[:-2] + str(path)
            options += ["--arg", arg]
        return options

    def kernel(self, text):
        path = self.folder / "kernel.py"
        path.write_text("import nki\nimport nki.isa as nisa\nimport nki.language as nl\n\n\n" + textwrap.dedent(text))
        return str(path)

    def test_every_kernel_of_the_library_is_right(self):
        for name, reference, args in LIBRARY:
            with self.subTest(name):
                done = run("kernel", "check", f"{KERNELS}/{name}", "--reference", reference, "--seeds", "1", "--json",
                           *self.arguments(args))
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                report = json.loads(done.stdout)
                self.assertTrue(all(case["right"] for case in report["cases"]))
                self.assertEqual(report["findings"], [])

    def test_a_profile_says_where_the_time_went(self):
        trace = self.folder / "matmul.pftrace"
        done = run("kernel", "profile", f"{KERNELS}/matmul.py:matmul_tiled", "--arg", "lhsT=512x512:bf16", "--arg",
                   "rhs=512x1024:bf16", "--json", "-", "--trace", str(trace))
        self.assertEqual(done.returncode, 0, done.stderr)
        profile = json.loads(done.stdout)
        for key in ("latency_us", "engines", "dma", "mfu", "mbu", "sbuf_bytes_peak", "psum_banks_peak", "stalls",
                    "advice", "evidence"):
            self.assertIn(key, profile)
        self.assertEqual(profile["engines"]["tensor"]["instructions"], 4 * 4 * 2)
        self.assertEqual(profile["dma"]["store_bytes"], 512 * 1024 * 2)
        self.assertEqual(profile["flops"], 2 * 512 * 512 * 1024)
        self.assertAlmostEqual(sum(profile["evidence"].values()), 1, places=6)
        self.assertLessEqual(profile["latency_low_us"], profile["latency_us"])
        self.assertGreater(trace.stat().st_size, 1000)

    def test_time_does_not_depend_on_values(self):
        args = ["--json", "-", "--no-band", "--arg", "x=256x512:f32"]
        shapes = run("kernel", "profile", f"{KERNELS}/softmax.py:softmax", *args)
        values = run("kernel", "profile", f"{KERNELS}/softmax.py:softmax", "--values", *args)
        self.assertEqual(shapes.stdout, values.stdout)

    def test_later_schedules_of_the_product_are_faster(self):
        times = []
        for name in ("matmul_tiled", "matmul_hoisted", "matmul_blocked"):
            done = run("kernel", "profile", f"{KERNELS}/matmul.py:{name}", "--no-band", "--json", "-", "--arg",
                       "lhsT=1024x1024:bf16", "--arg", "rhs=1024x2048:bf16")
            times.append(json.loads(done.stdout)["latency_us"])
        self.assertEqual(times, sorted(times, reverse=True))

    def test_the_wrong_element_is_traced_to_its_writer(self):
        path = self.kernel("""
            @nki.jit
            def half_negated(x):
                out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
                tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=tile, src=x)
                nisa.tensor_scalar(dst=tile[:, 64:128], data=tile[:, 64:128], op0=nl.multiply, operand0=-1.0)
                nisa.dma_copy(dst=out, src=tile)
                return out


            def same(x):
                return x
            """)
        done = run("kernel", "check", f"{path}:half_negated", "--reference", "same", "--arg", "x=128x128:f32")
        self.assertEqual(done.returncode, 1)
        self.assertIn("[0, 64]", done.stdout)
        self.assertIn("dma_copy at kernel.py:13, of what tensor_scalar at kernel.py:12 had made", done.stdout)

    def test_a_mistake_names_class_and_line(self):
        path = self.kernel("""
            @nki.jit
            def too_far(x):
                tile = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=tile, src=x[:, 0:64])
                nisa.tensor_copy(dst=tile, src=nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf))
                return x
            """)
        done = run("kernel", "run", f"{path}:too_far", "--arg", "x=128x64:f32")
        self.assertEqual(done.returncode, 1)
        self.assertIn("[uninitialized]", done.stderr)
        self.assertIn("kernel.py", done.stderr)
        self.assertIn("line 11", done.stderr)

    def test_a_kernel_that_never_ends_is_stopped(self):
        path = self.kernel("""
            @nki.jit
            def endless(x):
                tile = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.sbuf)
                while True:
                    nisa.memset(dst=tile, value=0.0)
            """)
        done = run("kernel", "run", f"{path}:endless", "--arg", "x=128x64:f32", "--max-instructions", "1000")
        self.assertEqual(done.returncode, 1)
        self.assertIn("1000", done.stderr)
        self.assertIn("[limit]", done.stderr)

    def test_results_are_the_same_bytes_each_time(self):
        for turn in ("a", "b"):
            (self.folder / turn).mkdir()
            done = run("kernel", "run", f"{KERNELS}/softmax.py:softmax", "--arg", "x=256x512:bf16", "--out",
                       str(self.folder / turn))
            self.assertEqual(done.returncode, 0, done.stderr)
        files = sorted(p.name for p in (self.folder / "a").iterdir())
        self.assertTrue(files)
        for name in files:
            self.assertEqual((self.folder / "a" / name).read_bytes(), (self.folder / "b" / name).read_bytes())

    def test_the_first_kernel_of_the_readme(self):
        code = re.search(r"```python\n(# scale\.py.*?)```", (ROOT / "README.md").read_text(), re.S).group(1)
        path = self.folder / "scale.py"
        path.write_text(code)
        done = run("kernel", "check", f"{path}:scale", "--reference", "scale_reference", "--arg", "x=256x512:f32")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("right"), 3)
        done = run("kernel", "profile", f"{path}:scale", "--arg", "x=4096x2048:bf16")
        self.assertIn("What to change", done.stdout)

    def test_python_path_lets_python_import_nki(self):
        done = subprocess.run(
            ["bash", "-c", f'eval "$({PROGRAM} python-path)" && exec /usr/bin/python3 -c '
             '"import nki, nki.isa; print(nki.__name__)"'], capture_output=True, text=True, timeout=60,
            env={"PATH": os.environ["PATH"]})
        self.assertEqual(done.stdout.strip(), "nki", done.stderr)


if __name__ == "__main__":
    unittest.main()
