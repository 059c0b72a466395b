"""windtunnel kernel suite, on small folder trees in which every kind of thing goes wrong."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from program import PROGRAM  # noqa: E402

KERNEL = """
    import nki
    import nki.isa as nisa
    import nki.language as nl
    import numpy as np

    @nki.jit
    def double(x):
        tile = nl.load(x)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.multiply(tile, 2.0))
        return out

    @nki.jit
    def too_tall(x):
        tile = nl.ndarray((256, 4), nl.float32, buffer=nl.sbuf)
        return tile

    def double_reference(x):
        return x * 2

    def three_times(x):
        return x * 3
"""

TESTS = """
    import os
    import signal
    import unittest

    import numpy as np
    from double import double, too_tall

    class DoubleTest(unittest.TestCase):
        def test_right(self):
            x = np.ones((4, 4), np.float32)
            assert np.allclose(double(x), 2)

        def test_wrong(self):
            assert np.allclose(double(np.ones((4, 4), np.float32)), 3), "not 3"

        def test_refused(self):
            too_tall(np.ones((4, 4), np.float32))

        def test_module(self):
            import no_such_module_anywhere

        def test_name(self):
            import nki.language as nl
            nl.no_such_name()

        def test_skip(self):
            self.skipTest("not today")

        def test_signal(self):
            os.kill(os.getpid(), signal.SIGSEGV)

        def test_error(self):
            [][1]

        def test_folder(self):
            open("left.txt", "w").write("here")
"""

HUNGRY = """
    import nki
    import unittest

    class HungryTest(unittest.TestCase):
        def test_memory(self):
            parts = []
            while True:
                parts.append(bytearray(64 << 20))

        def test_time(self):
            while True:
                pass
"""


class KernelSuiteTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tree = self.folder / "tree"
        self.tree.mkdir()

    def write(self, name, text):
        path = (self.folder if name.endswith(".toml") else self.tree) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    def suite(self, *words, code=0):
        done = subprocess.run([PROGRAM, "kernel", "suite", str(self.tree), *map(str, words)], text=True,
                              capture_output=True, timeout=200, cwd=self.folder)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def rows(self, *words, code=0):
        return {row["name"]: row for row in json.loads(self.suite("--json", *words, code=code))["rows"]}

    def test_every_status_of_tests(self):
        self.write("double.py", KERNEL)
        self.write("test_double.py", TESTS)
        files = sorted(self.tree.rglob("*"))
        rows = self.rows("--only", "Test")
        status = {name.split(".")[-1]: row["status"] for name, row in rows.items()}
        self.assertEqual(status, {
            "test_right": "passed", "test_wrong": "wrong", "test_refused": "refused", "test_module": "missing",
            "test_name": "unsupported", "test_skip": "skipped", "test_signal": "crashed", "test_error": "failed",
            "test_folder": "passed"})
        right = rows["DoubleTest.test_right"]
        self.assertEqual(right["kernels"], 1)
        self.assertGreater(right["instructions"], 2)
        self.assertGreater(right["latency_us"], 1)
        self.assertIn("partitions", rows["DoubleTest.test_refused"]["reason"])
        self.assertIn("double.py:", rows["DoubleTest.test_refused"]["reason"])
        self.assertEqual(rows["DoubleTest.test_module"]["reason"].split()[0], "no_such_module_anywhere")
        self.assertIn("SIGSEGV", rows["DoubleTest.test_signal"]["reason"])
        self.assertEqual(sorted(self.tree.rglob("*")), files)

    def test_limits(self):
        self.write("test_hungry.py", HUNGRY)
        for name, status, words in (("memory", "memory", ("--memory", "900")), ("time", "timeout", ("--timeout", "2"))):
            row = self.rows("--only", name, *words)[f"HungryTest.test_{name}"]
            self.assertEqual(row["status"], status, row)

    def test_described_kernels(self):
        self.write("double.py", KERNEL)
        expect = self.write("expect.toml", """
            [[kernel]]
            file = "double.py"
            kernel = "double"
            args = [{name = "x", shape = [8, 16], dtype = "bfloat16"}]
            reference = "double_reference"
            [[kernel]]
            file = "double.py"
            kernel = "double"
            name = "double_quickly"
            args = [{name = "x", shape = [8, 16], dtype = "bfloat16"}]
            values = false
            [[kernel]]
            file = "double.py"
            kernel = "double"
            name = "double_wrongly"
            args = [{name = "x", shape = [8, 16], make = "uniform", low = 1}]
            reference = "double.py:three_times"
            status = "wrong"
            reason = "128 of 128 elements"
            [[row]]
            match = "double.py:too_tall"
            status = "refused"
            """)
        rows = self.rows("--expect", expect, code=1)
        self.assertEqual(rows["double"]["status"], "passed", rows)
        self.assertEqual(rows["double"]["shapes"], [[8, 16]])
        self.assertEqual(rows["double_quickly"]["status"], "ran")
        self.assertEqual(rows["double_quickly"]["latency_us"], rows["double"]["latency_us"])
        self.assertLessEqual(rows["double"]["latency_low_us"], rows["double"]["latency_us"])
        self.assertGreaterEqual(rows["double"]["latency_high_us"], rows["double"]["latency_us"])
        self.assertEqual(rows["double_wrongly"]["status"], "wrong")
        text = self.suite("--expect", expect, code=1)
        self.assertIn("double.py:too_tall: undescribed; expected refused", text)
        self.assertNotIn("double_wrongly: wrong", text)

    def test_reads_of_what_nothing_wrote(self):
        self.write("padded.py", """
            import nki
            import nki.isa as nisa
            import nki.language as nl
            import numpy as np

            def padded(x, kept):
                tile = nl.ndarray((4, 16), x.dtype, buffer=nl.sbuf)
                nisa.dma_copy(tile[:, :8], x)
                nisa.tensor_scalar(tile, tile, nl.multiply, 2.0)
                out = nl.ndarray((4, kept), x.dtype, buffer=nl.shared_hbm)
                nisa.dma_copy(out, tile[:, :kept])
                return out

            @nki.jit
            def cut_off(x):
                return padded(x, 8)

            @nki.jit
            def kept(x):
                return padded(x, 16)

            @nki.jit
            def unchecked(x):
                return padded(x, 8)

            def cut_off_reference(x):
                return 2 * x

            def kept_reference(x):
                return 2 * np.pad(x, ((0, 0), (0, 8)))
            """)
        entry = '[[kernel]]\nfile = "padded.py"\nkernel = "{0}"\nargs = [{{name = "x", shape = [4, 8]}}]\n'
        checked = entry + 'reference = "{0}_reference"\n'
        text = checked.format("cut_off") + checked.format("kept") + entry.format("unchecked")
        expect = self.write("expect.toml", text)
        rows = self.rows("--expect", expect, code=1)
        self.assertEqual({name: row["status"] for name, row in rows.items()},
                         {"cut_off": "passed", "kept": "refused", "unchecked": "refused"})
        self.assertEqual(rows["cut_off"]["reason"], "reads what nothing wrote (padded.py:10)")
        self.assertGreater(rows["cut_off"]["instructions"], 2)
        self.assertIn("[uninitialized]", rows["kept"]["reason"])

    def test_examples(self):
        self.write("stub.pyi", '''
            def twice(x):
                """Twice as much, in nki.

                .. code-block:: python

                    x = nl.full((4, 4), 3.0, nl.float32)
                    assert nl.equal(nl.add(x, x), 6.0)

                .. code-block:: python

                    x = nl.full((4, 4), 3.0, nl.float32)
                    assert nl.equal(nl.add(x, x), 7.0)

                .. code-block:: python

                    y = nl.add(x_of_before, 1)
                """
            ''')
        self.write("guide.rst", """
            Doubling with nki

            .. code-block:: python

               @nki.jit
               def double(x):
                   out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
                   nl.store(out, nl.multiply(nl.load(x), 2.0))
                   return out

            and then

            .. code-block:: python
               :linenos:

               result = nki.simulate(double)(np.ones((2, 2), np.float32))
               assert result.sum() == 8
            """)
        status = {name: row["status"] for name, row in self.rows().items()}
        self.assertEqual(status, {"twice#0": "passed", "twice#1": "wrong", "twice#2": "fragment", "#0": "undescribed",
                                  "#1": "passed"})

    def test_parameters_scripts_and_annotations(self):
        self.write("test_many.py", """
            import nki.language as nl
            import numpy as np
            import pytest

            @pytest.mark.parametrize("n", [1, 2])
            @pytest.mark.parametrize("m", [3])
            def test_product(n, m):
                assert n * m != 6
            """)
        self.write("script.py", """
            import nki
            if __name__ == "__main__":
                assert nki.__version__
            """)
        self.write("annotated.py", KERNEL + """
    import nki.typing as nt

    @nki.jit
    def triple(x: nt.tensor[4, 8]):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.multiply(nl.load(x), 3.0))
        return out

    def triple_ref(x):
        return 3 * x
""")
        rows = self.rows()
        many = sorted(row["status"] for name, row in rows.items() if name.startswith("test_product"))
        self.assertEqual(many, ["passed", "wrong"])
        self.assertEqual(rows["__main__"]["status"], "passed")
        self.assertEqual(rows["triple"]["status"], "passed", rows["triple"])

    def test_interruption_and_resuming(self):
        self.write("double.py", KERNEL)
        self.write("test_double.py", TESTS)
        self.write("test_hungry.py", HUNGRY)
        results = self.folder / "results.jsonl"
        command = [PROGRAM, "kernel", "suite", str(self.tree), "--results", str(results), "--only", "right|time", "--jobs", "1"]
        with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            while not (results.exists() and results.read_text()):
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            out = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 130)
        self.assertIn("1 not run", out)
        rows = self.rows("--results", results, "--resume", "--only", "right|time", "--timeout", "1")
        self.assertEqual({row["status"] for row in rows.values()}, {"passed", "timeout"})
        self.assertEqual(len(results.read_text().splitlines()), 2)

    def test_children_end_with_a_suite_that_is_killed(self):
        pid_file = self.folder / "pid"
        self.write("test_endless.py", f"""
            import os
            import pathlib
            import unittest

            import nki

            class Endless(unittest.TestCase):
                def test_endless(self):
                    pathlib.Path({str(pid_file)!r}).write_text(str(os.getpid()))
                    while True:
                        pass
        """)
        command = [PROGRAM, "kernel", "suite", str(self.tree), "--jobs", "1"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and not (pid_file.exists() and pid_file.read_text()):
                time.sleep(0.05)
            process.kill()
        child = pathlib.Path("/proc") / pid_file.read_text() / "stat"
        for _ in range(200):
            if not child.exists() or child.read_text().split()[2] == "Z":
                break
            time.sleep(0.05)
        else:
            self.fail(f"{child.parent.name} runs on")

    def test_mistakes_in_the_expectations(self):
        expect = self.write("expect.toml", "[[kernel]]\nfile = 'a.py'\nkernel = 'a'\nshapes = [3]\n")
        done = subprocess.run([PROGRAM, "kernel", "suite", self.tree, "--expect", expect], text=True, capture_output=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has shapes; expected args", done.stderr)


if __name__ == "__main__":
    unittest.main()
