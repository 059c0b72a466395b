"""Kernels of kernels/ that know tokens and positions: embedding, convolution, rotary positions, gates."""
import os
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kernel_checks import check_types, normal  # noqa: E402


def ids(tokens, vocab, seed=5):
    return np.random.default_rng(seed).integers(0, vocab, (tokens, 1)).astype(np.int32)


def angles(time, head_dim, base=10000.0):
    turns = np.arange(time)[:, None] * base**(-2.0 * np.arange(head_dim // 2) / head_dim)
    return {"cos": np.cos(turns).astype(np.float32), "sin": np.sin(turns).astype(np.float32), "head_dim": head_dim}


class Embedding(unittest.TestCase):
    def test_look_up(self):
        for tokens, vocab, width in ((128, 300, 64), (300, 50, 200)):
            check_types(self, "embedding", "embedding", {"table": (vocab, width)}, ids=ids(tokens, vocab))
            check_types(self, "embedding", "embedding", {"table": (vocab, width)}, ids=ids(tokens, vocab),
                        like=normal(1, 1, dtype="bfloat16"))

    def test_gradient_with_many_equal_ids(self):
        for tokens, vocab, width in ((128, 300, 64), (700, 5, 200), (1100, 2000, 520)):
            check_types(self, "embedding", "embedding_grad", {"dy": (tokens, width)}, ids=ids(tokens, vocab),
                        d_table=normal(vocab, width))


class Convolution(unittest.TestCase):
    def test_forward_and_backward(self):
        for shape, taps in (((1, 128, 128), 4), ((2, 600, 200), 3), ((1, 50, 40), 1)):
            w = normal(taps, shape[2], seed=7)
            check_types(self, "conv", "causal_conv", {"x": shape}, w=w)
            check_types(self, "conv", "causal_conv_grad", {"dy": shape, "x": shape}, w=w)
            check_types(self, "conv", "causal_conv_grad", {"dy": shape, "x": shape}, w=w, dw=normal(taps, shape[2]))


class Rotary(unittest.TestCase):
    def test_forward_and_backward(self):
        for batch, time, heads, head_dim in ((1, 128, 2, 64), (2, 200, 3, 16)):
            shape = (batch, time, heads * head_dim)
            for more in ({}, {"gain": 1.2, "eps": 1e-5}, {"norm": False, "gain": 0.7}):
                check_types(self, "rope", "rope_norm", {"x": shape}, **angles(time, head_dim), **more)
                check_types(self, "rope", "rope_norm_grad", {"dy": shape, "x": shape}, **angles(time, head_dim), **more)


class Gates(unittest.TestCase):
    def test_value_gate(self):
        for tokens, heads, size in ((128, 2, 64), (200, 3, 16)):
            shapes = {"v": (tokens, heads * size), "g": (tokens, heads), "e": (tokens, heads * size)}
            check_types(self, "gate", "value_gate", shapes)
            check_types(self, "gate", "value_gate_grad", {"dy": shapes["v"], "g": shapes["g"], "e": shapes["e"]})

    def test_smear(self):
        for batch, time, width in ((1, 128, 64), (2, 257, 100)):
            shape, scale = (batch, time, width), normal(1, 1, seed=8)
            check_types(self, "gate", "smear", {"x": shape, "g": (batch, time, 1)}, scale=scale)
            check_types(self, "gate", "smear_grad", {"dy": shape, "x": shape, "g": (batch, time, 1)}, scale=scale)


if __name__ == "__main__":
    unittest.main()
