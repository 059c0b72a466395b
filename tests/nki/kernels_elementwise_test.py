"""Kernels of kernels/ that work element by element or row by row."""
import os
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kernel_checks import check, check_types, normal  # noqa: E402

SHAPES = ((128, 256), (200, 300))


class Elementwise(unittest.TestCase):
    def test_sums_and_casts(self):
        for shape in SHAPES:
            check_types(self, "pointwise", "add", {"a": shape, "b": shape})
            for dtype in ("bfloat16", "float32"):
                check_types(self, "pointwise", "cast", {"x": shape}, like=normal(1, 1, dtype=dtype))

    def test_mix_and_its_gradient(self):
        scalars = {"r": normal(1, 1, seed=8), "z": normal(1, 1, seed=9)}
        for shape in SHAPES:
            check_types(self, "pointwise", "mix", {"x": shape, "x0": shape}, **scalars)
            check_types(self, "pointwise", "mix_grad", {"dy": shape, "x": shape, "x0": shape}, **scalars)
            check_types(self, "pointwise", "mix_grad", {"dy": shape, "x": shape, "x0": shape, "addend": shape}, **scalars)

    def test_averages_of_weights(self):
        share = normal(1, 1, seed=8)
        for shape in ((128, 256), (70, 2100)):
            check(self, "pointwise", "ema", p=normal(*shape), decay=share, average=normal(*shape, seed=2))
            check(self, "pointwise", "blend", average=normal(*shape), alpha=share, p=normal(*shape, seed=2))

    def test_gradient_scale(self):
        for shape in ((128, 256), (70, 4500)):
            check_types(self, "pointwise", "sum_of_squares", {"x": shape})
        squares, batches = np.array([[3.0, 6.0]], dtype=np.float32), np.array([[2.0]], dtype=np.float32)
        for clip in (0.0, 1.0, 100.0):
            check(self, "pointwise", "gradient_scale", squares=squares, micro_batches=batches, clip=clip)

    def test_activations(self):
        for kind in ("relu2", "leaky_relu2", "gelu", "silu"):
            for shape in SHAPES:
                check_types(self, "activation", "activation", {"x": shape}, kind=kind)
                check_types(self, "activation", "activation_grad", {"dy": shape, "x": shape}, kind=kind)

    def test_swiglu(self):
        for shape in SHAPES:
            check_types(self, "activation", "swiglu", {"gate": shape, "up": shape})
            check_types(self, "activation", "swiglu_grad", {"dy": shape, "gate": shape, "up": shape})


class Rows(unittest.TestCase):
    def test_rms_norm(self):
        for shape in ((200, 300), (1700, 300), (130, 1300)):
            check_types(self, "rmsnorm", "rmsnorm", {"x": shape}, gain=normal(1, shape[1]))
            check_types(self, "rmsnorm", "rms_norm", {"x": shape})

    def test_rms_norm_gradient(self):
        for shape in ((200, 300), (1700, 300), (130, 1300)):
            check_types(self, "rmsnorm", "rms_norm_grad", {"dy": shape, "x": shape})
            check_types(self, "rmsnorm", "rms_norm_grad", {"dy": shape, "x": shape, "addend": shape})


if __name__ == "__main__":
    unittest.main()
