"""The head and its loss in kernels/."""
import os
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kernel_checks import check, normal  # noqa: E402


class HeadLoss(unittest.TestCase):
    def test_forward_and_backward(self):
        share = np.array([[0.01]], dtype=np.float32)
        for tokens, width, vocab in ((128, 128, 512), (700, 200, 1100), (130, 700, 300)):
            targets = np.random.default_rng(5).integers(-1, vocab, (tokens, 1)).astype(np.int32)
            for dtype in ("bfloat16", "float32"):
                with self.subTest(tokens=tokens, dtype=dtype):
                    given = {"x": normal(tokens, width, dtype=dtype), "targets": targets, "share": share,
                             "w": normal(vocab, width, dtype=dtype, seed=2, scale=0.3)}
                    check(self, "head_loss", "head_loss", **given)
                    limit = 4e-2 if dtype == "bfloat16" else 1e-3
                    check(self, "head_loss", "head_loss_train", tolerance=limit, **given)
                    check(self, "head_loss", "head_loss_train", tolerance=limit, dw=normal(vocab, width, seed=3), **given)


if __name__ == "__main__":
    unittest.main()
