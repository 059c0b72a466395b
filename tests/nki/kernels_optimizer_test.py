"""Optimisers of kernels/."""
import os
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kernel_checks import check, normal  # noqa: E402

import adamw  # noqa: E402


class Optimizers(unittest.TestCase):
    def test_adamw(self):
        for shape, step in (((128, 256), 1), ((70, 2100), 100)):
            check(self, "adamw", "adamw_step", gradient=normal(*shape), scale=normal(1, 1, seed=9),
                  numbers=adamw.coefficients(1e-2, 0.9, 0.95, 1e-8, 0.1, step), p=normal(*shape, seed=2),
                  m=normal(*shape, seed=3), v=np.abs(normal(*shape, seed=4)))

    def test_polar_express(self):
        for shape in ((128, 512), (200, 300), (300, 140)):
            check(self, "muon", "polar_express", tolerance=2e-2, x=normal(*shape), steps=2)
            # Five steps amplify the last bit of bf16: a reference of slightly other x differs from itself as much.
            check(self, "muon", "polar_express", tolerance=0.5, x=normal(*shape))

    def test_muon(self):
        numbers = np.array([[0.02, 0.95, 0.9, 0.1]], dtype=np.float32)
        for rows, cols in ((128, 512), (300, 140), (200, 200)):
            moment = np.abs(normal(*((rows, 1) if rows >= cols else (1, cols)), seed=5, scale=0.01))
            check(self, "muon", "muon", tolerance=2e-2, gradient=normal(rows, cols), scale=normal(1, 1, seed=9),
                  numbers=numbers, weight=normal(rows, cols, seed=2, scale=0.1), momentum=normal(rows, cols, seed=3),
                  moment=moment)


if __name__ == "__main__":
    unittest.main()
