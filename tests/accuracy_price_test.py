"""bench/accuracy_price: every limit of the pricing model holds on the measured steps, where there are any."""
import os
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]


class AccuracyPriceTest(unittest.TestCase):
    def run_bench(self, **environment):
        return subprocess.run([ROOT / "bench/accuracy_price"], capture_output=True, text=True, check=False,
                              env={**os.environ, **environment})

    def test_limits_hold(self):
        done = self.run_bench()
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr)
        if "nothing done" in done.stdout:
            self.skipTest(done.stdout.strip())
        self.assertNotIn("**no**", done.stdout)


if __name__ == "__main__":
    unittest.main()
