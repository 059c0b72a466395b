"""Kernels of kernels/ that are matrix products."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kernel_checks import check_types, normal  # noqa: E402


class Products(unittest.TestCase):
    def test_forward(self):
        for rows, depth, out in ((128, 128, 512), (200, 300, 700), (600, 128, 96)):
            check_types(self, "linear", "linear", {"x": (rows, depth), "w": (out, depth)})

    def test_epilogues(self):
        tensors, residual = {"x": (200, 200), "w": (600, 200)}, {"residual": (200, 600)}
        bias = normal(1, 600)
        check_types(self, "linear", "linear", tensors, scale=0.25)
        check_types(self, "linear", "linear", tensors, bias=bias)
        check_types(self, "linear", "linear", tensors, softcap=15.0)
        check_types(self, "linear", "linear", tensors | residual)
        for kind in ("relu2", "leaky_relu2", "gelu", "silu"):
            check_types(self, "linear", "linear", tensors, kind=kind)
            check_types(self, "linear", "linear", tensors | residual, scale=0.1, bias=bias, kind=kind)

    def test_gradients(self):
        for rows, out, width in ((128, 128, 512), (300, 200, 700)):
            dy, w, x = {"dy": (rows, out)}, {"w": (out, width)}, {"x": (rows, width)}
            check_types(self, "linear", "linear_dgrad", dy | w)
            check_types(self, "linear", "linear_dgrad", dy | w | {"addend": (rows, width)})
            check_types(self, "linear", "linear_wgrad", dy | x)
            check_types(self, "linear", "linear_wgrad", dy | x, dw=normal(out, width))

    def test_contractions_that_do_not_fit_sbuf(self):
        check_types(self, "linear", "linear_wgrad", {"dy": (4200, 140), "x": (4200, 520)}, dw=normal(140, 520))
        check_types(self, "linear", "linear", {"x": (100, 4200), "w": (520, 4200)}, bias=normal(1, 520))


if __name__ == "__main__":
    unittest.main()
