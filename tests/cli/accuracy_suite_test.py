"""bench/accuracy --suite: rows of a kernel suite against a table of measured times."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "bench" / "accuracy"

TIMES = """kernel,shape,chip,measured_us,true_time_factor
scale scale_v1,scale_M64_N32,trn2 (1 core),50,2
scale scale_v1,scale_M64_N32,trn2 (1 core),60,2
scale scale_v2,scale_M64_N32,trn2 (1 core),200,1
scale scale_v2,scale_M64_N96,trn2 (1 core),1000,1
scale scale_v3,scale_M64_N32,trn1,10,1
baseline scale,scale_M64_N32,trn2,400,
"""


def row(file, us, low, high):
    return {"file": file, "name": "kernel", "status": "ran", "shapes": [[4, 16, 32]], "latency_us": us,
            "latency_low_us": low, "latency_high_us": high}


class AccuracySuiteTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "times.csv").write_text(TIMES)

    def compare(self, rows, times="times.csv"):
        (self.folder / "suite.json").write_text(json.dumps({"machine": "trn2", "rows": rows}))
        command = [sys.executable, str(PROGRAM), "--suite", str(self.folder / "suite.json"), "--times",
                   str(self.folder / times)]
        done = subprocess.run(command, text=True, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_rows_are_joined_by_name_and_shape(self):
        said = self.compare([row("runs/scale_v1.py", 121, 100, 130), row("runs/scale_v2.py", 190, 185, 195),
                             row("runs/scale_v3.py", 1, 1, 1), row("kernels/scale_M64_N32_0.py", 400, 400, 400)])
        self.assertIn("| scale scale_v1 | 121.0 | 110.0 | +10.0 | 100.0 to 130.0 | yes |", said)
        self.assertIn("| scale scale_v2 | 190.0 | 200.0 | -5.0 | 185.0 to 195.0 | no |", said)
        self.assertIn("| baseline scale | 400.0 | 400.0 | +0.0 |", said)
        self.assertNotIn("scale_v3", said)
        for line in ("| kernels with a measured time | 3 |", "| median error | 5.0 % |", "| mean error | 5.0 % |",
                     "| pairs of a family over 5 % apart, named right | 3 of 3 |", "| measured times within the band | 2 of 3 |"):
            self.assertIn(line, said)

    def test_nothing_to_compare(self):
        self.assertIn("no kernel of", self.compare([row("other.py", 1, 1, 1)]))


if __name__ == "__main__":
    unittest.main()
