"""Attention of kernels/, forward and backward."""
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kernel_checks import check, normal  # noqa: E402

import attention  # noqa: E402

# batch, time, heads, heads of keys and values, head dimension, window
CASES = [(1, 256, 1, 1, 64, None), (2, 384, 4, 2, 32, 200), (1, 1152, 1, 1, 64, None), (1, 256, 1, 1, 128, None),
         (1, 300, 1, 1, 256, 128), (1, 100, 2, 1, 16, None)]


def tensors(case, dtype):
    batch, time, heads, kv_heads, head_dim, window = case
    shapes = [(batch, time, count * head_dim) for count in (heads, kv_heads, kv_heads, heads)]
    return [normal(*shape, dtype=dtype, seed=i) for i, shape in enumerate(shapes)], head_dim, window


def each_case(test):
    """Runs a test method for every case and type."""
    def run(self):
        for case in CASES:
            for dtype in ("bfloat16", "float32"):
                with self.subTest(case=case, dtype=dtype):
                    test(self, *tensors(case, dtype), dtype)
    return run


class Attention(unittest.TestCase):
    @each_case
    def test_forward(self, given, head_dim, window, dtype):
        q, k, v, _ = given
        check(self, "attention", "attention", q=q, k=k, v=v, head_dim=head_dim, window=window)

    @each_case
    def test_bounded_forward(self, given, head_dim, window, dtype):
        q, k, v, _ = given
        # Sums are of powers as the product with v reads them, so log_sum_exp is no finer than they are.
        check(self, "attention", "attention_bounded", tolerance=2.5e-2 if dtype == "bfloat16" else None, q=q, k=k, v=v,
              head_dim=head_dim, window=window)

    def test_large_scores_need_the_running_maximum(self):
        q, k, v = (normal(1, 256, 64, seed=i, scale=scale) for i, scale in enumerate((12, 12, 1)))
        check(self, "attention", "attention", tolerance=2e-3, q=q, k=k, v=v, head_dim=64)

    @each_case
    def test_backward(self, given, head_dim, window, dtype):
        q, k, v, dy = given
        y, lse = attention.attention_reference(q, k, v, head_dim, window)
        check(self, "attention_grad", "attention_grad", tolerance=5e-2 if dtype == "bfloat16" else None, dy=dy, q=q, k=k,
              v=v, y=y, log_sum_exp=lse, head_dim=head_dim, window=window)


if __name__ == "__main__":
    unittest.main()
