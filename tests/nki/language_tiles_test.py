"""nki.language against NumPy: creation, movement, shapes, reductions, products, random numbers."""
import tempfile
import unittest
import warnings

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np

from tiles import platform, refused, run, run_on_hbm

RANDOM = np.random.RandomState(6)
X = RANDOM.uniform(-4, 4, (16, 40)).astype(np.float32)
CUBE = RANDOM.uniform(-2, 2, (8, 6, 10)).astype(np.float32)


class Creation(unittest.TestCase):
    def test_filled(self):
        for buffer in (nl.sbuf, nl.psum, nl.hbm, nl.shared_hbm):
            zeros, ones, full = run(lambda: (nl.zeros((4, 6), nl.float32, buffer=buffer),
                                             nl.ones((4, 6), nl.bfloat16, buffer=buffer),
                                             nl.full((4, 6), 2.5, nl.float32, buffer=buffer)))
            np.testing.assert_array_equal(zeros, np.zeros((4, 6)))
            np.testing.assert_array_equal(ones, np.ones((4, 6), "bfloat16"))
            np.testing.assert_array_equal(full, np.full((4, 6), 2.5))

    def test_filled_hbm_of_any_shape(self):
        for shape in ((7,), (3, 5000), (300, 7), (2, 3, 128, 5), (9973,)):
            got = run(lambda: nl.full(shape, 3, nl.int32, buffer=nl.shared_hbm))
            np.testing.assert_array_equal(got, np.full(shape, 3))

    def test_values_by_type(self):
        self.assertEqual(run(lambda: nl.full((1, 2), 7.0, nl.int16)).tolist(), [[7, 7]])
        self.assertEqual(run(lambda: nl.full((1, 2), 7, nl.float16)).tolist(), [[7, 7]])
        with refused(self, "dtype", "has a fraction"):
            run(lambda: nl.full((1, 2), 7.5, nl.int16))
        with refused(self, "argument", "expected a number"):
            run(lambda: nl.full((1, 2), "7", nl.int16))

    def test_like(self):
        def body(x):
            zeros = nl.zeros_like(x)
            empty = nl.empty_like(x, dtype=nl.bfloat16)
            self.assertEqual((empty.shape, empty.dtype, empty.buffer), (x.shape, nl.bfloat16, nl.sbuf))
            in_psum = nl.empty_like(x, buffer=nl.psum)
            self.assertEqual((in_psum.dtype, in_psum.buffer), (x.dtype, nl.psum))
            return zeros
        np.testing.assert_array_equal(run(body, X), np.zeros_like(X))
        with refused(self, "argument", "expected a tensor"):
            run(lambda: nl.zeros_like(3))

    def test_shared_constant(self):
        for array in (X, np.arange(6, dtype=np.int32).reshape(2, 3), X.astype("bfloat16")):
            got = run(lambda: nl.load(nl.shared_constant(array)))
            np.testing.assert_array_equal(got, array)
        with tempfile.NamedTemporaryFile(suffix=".npy") as file:
            np.save(file.name, X)
            np.testing.assert_array_equal(run(lambda: nl.shared_constant(file.name)), X)
        with refused(self, "argument", "NumPy array"):
            run(lambda: nl.shared_constant([1, 2]))

    def test_shared_identity_matrix(self):
        self.assertEqual(run(lambda: nl.shared_identity_matrix(5)).dtype, np.uint8)
        for dtype in (nl.float32, nl.bfloat16, nl.float8_e4m3):
            got = run(lambda: nl.shared_identity_matrix(n=128, dtype=dtype))
            np.testing.assert_array_equal(got.astype(float), np.eye(128))

        def into(_):
            dst = nl.ndarray((3, 3), nl.float32)
            self.assertIs(nl.shared_identity_matrix(3, nl.float32, dst), dst)
            return dst
        np.testing.assert_array_equal(run(into, X), np.eye(3))
        with refused(self, "partitions", "expected 1 to 128"):
            run(lambda: nl.shared_identity_matrix(129))

    def test_outside_a_kernel(self):
        with refused(self, "outside-kernel", "nki.jit"):
            nl.ndarray((2, 2), nl.float32)


class Random(unittest.TestCase):
    def test_uniform(self):
        for dtype in (nl.float32, nl.bfloat16, nl.float16):
            got = run(lambda: nl.rand((128, 512), dtype)).astype(np.float64)
            self.assertTrue(((got >= 0) & (got < 1)).all())
            self.assertAlmostEqual(got.mean(), 0.5, delta=0.01)
            self.assertAlmostEqual(got.var(), 1 / 12, delta=0.005)

    def test_seed(self):
        def body():
            seed = nl.full((1, 1), 42, nl.int32)
            nl.random_seed(seed)
            a = nl.rand((8, 16), nl.float32)
            b = nl.rand((8, 16), nl.float32)
            nl.random_seed(seed)
            return a, b, nl.rand((8, 16), nl.float32)
        a, b, again = run(body)
        np.testing.assert_array_equal(a, again)
        self.assertTrue((a != b).any())

    def test_hbm_and_the_third_generation(self):
        got = run(lambda: nl.rand((256, 8), nl.float32, buffer=nl.shared_hbm))
        self.assertGreater(len(np.unique(got)), 2000)
        with platform("trn3"):
            got = run(lambda: nl.rand((128, 64), nl.float32))
            self.assertTrue(((got >= 0) & (got <= 1)).all())

    def test_dropout(self):
        ones = np.ones((128, 512), np.float32)
        got = run(lambda x: nl.dropout(x, 0.25), ones)
        self.assertEqual(set(np.unique(got)), {0.0, 1.0})
        self.assertAlmostEqual(got.mean(), 0.75, delta=0.01)
        rates = np.zeros((128, 1), np.float32)
        rates[64:] = 1
        by_partition = run(nl.dropout, ones, rates)
        self.assertTrue((by_partition[:64] == 1).all() and (by_partition[64:] == 0).all())

    def test_refusals(self):
        with refused(self, "argument", r"\[1, 1\] tile"):
            run(lambda: nl.random_seed(42))
        with refused(self, "dtype", "expected a float type"):
            run(lambda: nl.rand((2, 2), nl.int32))


class Movement(unittest.TestCase):
    def test_load_and_store(self):
        def kernel(x):
            out = nl.ndarray(x.shape, nl.bfloat16, buffer=nl.shared_hbm)
            self.assertIsNone(nl.store(out, nl.load(x, dtype=nl.bfloat16)))
            return out
        np.testing.assert_array_equal(run_on_hbm(kernel, X), X.astype("bfloat16"))

    def test_store_from_psum(self):
        def kernel(x):
            out = nl.ndarray((40, 16), x.dtype, buffer=nl.shared_hbm)
            nl.store(out, nl.transpose(nl.load(x)))
            return out
        np.testing.assert_array_equal(run_on_hbm(kernel, X), X.T)

    def test_load_transpose2d(self):
        for dtype in (np.float32, "bfloat16"):
            got = run_on_hbm(lambda x: _stored(nl.load_transpose2d(x)), X.astype(dtype))
            np.testing.assert_array_equal(got, X.T.astype(dtype))
        got = run_on_hbm(lambda x: _stored(nl.load_transpose2d(x, dtype=nl.float32)),
                         X.astype("bfloat16"))
        np.testing.assert_array_equal(got, X.T.astype("bfloat16").astype(np.float32))

    def test_copy(self):
        np.testing.assert_array_equal(run(nl.copy, X), X)
        large = np.array([[2 ** 30 + 1, -7]], np.int32)
        np.testing.assert_array_equal(run(nl.copy, large), large)
        self.assertEqual(run(lambda x: nl.copy(x, dtype=nl.float16), X).dtype, np.float16)

    def test_where(self):
        condition = (X > 0).astype(np.float32)
        got = run(lambda c, x, y: nl.where(c, x, y), condition, X, -X)
        np.testing.assert_array_equal(got, np.where(X > 0, X, -X))
        got = run(lambda c, x: nl.where(c, x, 0.0), condition, X)
        np.testing.assert_array_equal(got, np.where(X > 0, X, 0))
        infinite = np.full_like(X, np.inf)
        np.testing.assert_array_equal(run(nl.where, condition, X, infinite),
                                      np.where(X > 0, X, np.inf))
        mixed = run(nl.where, condition, X.astype("bfloat16"), X)
        np.testing.assert_array_equal(mixed, np.where(X > 0, X.astype("bfloat16").astype("f"), X))

    def test_gather_flattened(self):
        indices = RANDOM.randint(0, 60, (8, 20)).astype(np.uint32)
        expected = np.take_along_axis(CUBE.reshape(8, 60), indices.astype(int), axis=1)
        np.testing.assert_array_equal(run(nl.gather_flattened, CUBE, indices), expected)
        np.testing.assert_array_equal(run(nl.gather_flattened, CUBE, indices.astype(np.int32)),
                                      expected)

    def test_ds(self):
        got = run(lambda x: nl.copy(x[:, nl.ds(4, 8)]), X)
        np.testing.assert_array_equal(got, X[:, 4:12])

    def test_refusals(self):
        with refused(self, "memory", "expected a tensor in HBM"):
            run(lambda x: nl.load(x), X)
        with refused(self, "memory", "expected a tensor in HBM"):
            run(lambda x: nl.store(x, x), X)
        with refused(self, "argument", "numbers"):
            run(lambda x: nl.where(x, 1.0, 2.0), X)
        with refused(self, "unsupported", "axis=1"):
            run(lambda x: nl.gather_flattened(x, x, axis=1), X)


def _stored(tile):
    out = nl.ndarray(tile.shape, tile.dtype, buffer=nl.shared_hbm)
    nl.store(out, tile)
    return out


class Shapes(unittest.TestCase):
    def test_expand_dims(self):
        self.assertEqual(run(lambda x: nl.copy(nl.expand_dims(x, 1)), X).shape, (16, 1, 40))
        self.assertEqual(run(lambda x: nl.copy(nl.expand_dims(x, -1)), X).shape, (16, 40, 1))

    def test_broadcast_to(self):
        column, row = X[:, :1].copy(), X[:1].copy()
        np.testing.assert_array_equal(run(lambda x: nl.broadcast_to(x, (16, 5)), column),
                                      np.broadcast_to(column, (16, 5)))
        for partitions in (1, 16, 32, 100, 128):
            np.testing.assert_array_equal(run(lambda x: nl.broadcast_to(x, (partitions, 40)), row),
                                          np.broadcast_to(row, (partitions, 40)))
        both = run(lambda x: nl.broadcast_to(x, (70, 3), dtype=nl.float16), X[:1, :1].copy())
        np.testing.assert_array_equal(both, np.full((70, 3), X[0, 0], np.float16))

    def test_broadcast_to_the_same_shape_is_the_tile_itself(self):
        run(lambda x: self.assertIs(nl.broadcast_to(x, x.shape), x) or x, X)

    def test_transpose(self):
        np.testing.assert_array_equal(run(nl.transpose, X), X.T)
        got = run(lambda x: nl.transpose(x, dtype=nl.float32), X.astype("bfloat16"))
        np.testing.assert_array_equal(got, X.T.astype("bfloat16").astype(np.float32))
        self.assertEqual(run(lambda x: self.assertEqual(nl.transpose(x).buffer, nl.psum) or x, X).shape,
                         X.shape)

    def test_refusals(self):
        with refused(self, "shape", "broadcast_to"):
            run(lambda x: nl.broadcast_to(x, (16, 80)), X)
        with refused(self, "shape", "broadcast_to"):
            run(lambda x: nl.broadcast_to(x, (16, 1, 40)), X)
        with refused(self, "shape", "expected two dimensions"):
            run(nl.transpose, CUBE)


class Products(unittest.TestCase):
    A = RANDOM.rand(24, 32).astype(np.float32)
    B = RANDOM.rand(32, 48).astype(np.float32)

    def test_matmul(self):
        got = run(lambda x, y: nl.matmul(x, y, transpose_x=True), self.A.T.copy(), self.B)
        np.testing.assert_allclose(got, self.A @ self.B, rtol=1e-6)
        np.testing.assert_allclose(run(nl.matmul, self.A, self.B), self.A @ self.B, rtol=1e-6)

    def test_bfloat16_accumulates_in_float32(self):
        a, b = self.A.astype("bfloat16"), self.B.astype("bfloat16")
        got = run(lambda x, y: nl.matmul(x, y, transpose_x=True), a.T.copy(), b)
        np.testing.assert_allclose(got, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-6)
        self.assertEqual(got.dtype, np.float32)

    def test_the_way_that_does_not_compile_warns(self):
        with self.assertWarnsRegex(UserWarning, "transpose_x=True"):
            nki.simulate(lambda x, y: _stored(nl.matmul(nl.load(x), nl.load(y))))(self.A, self.B)

    def test_refusals(self):
        with refused(self, "shape", "expected two dimensions"):
            run(lambda x, y: nl.matmul(x, y, transpose_x=True), CUBE, self.B)
        with refused(self, "shape", "nc_matmul"):
            run(lambda x, y: nl.matmul(x, y, transpose_x=True), self.A, self.B)


class Reductions(unittest.TestCase):
    FUNCTIONS = {"sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod, "mean": np.mean}

    def test_rows(self):
        for name, function in self.FUNCTIONS.items():
            got = run(lambda x: getattr(nl, name)(x, axis=1), X)
            np.testing.assert_allclose(got, function(X.astype(float), axis=1, keepdims=True),
                                       rtol=1e-5, err_msg=name)

    def test_inner_dimensions(self):
        for name, function in self.FUNCTIONS.items():
            operation = getattr(nl, name)
            last, both, kept = run(lambda x: (operation(x, axis=2), operation(x, axis=(1, 2)),
                                              operation(x, axis=[-1], keepdims=True)), CUBE)
            exact = CUBE.astype(float)
            np.testing.assert_allclose(last, function(exact, axis=2), rtol=1e-4, atol=1e-6)
            np.testing.assert_allclose(both[:, 0], function(exact, axis=(1, 2)), rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(kept, function(exact, axis=2, keepdims=True), rtol=1e-4,
                                       atol=1e-6)

    def test_var(self):
        for width in (1, 2, 39, 512, 513, 1300):
            x = RANDOM.normal(3, 2, (5, width)).astype(np.float32)
            np.testing.assert_allclose(run(lambda t: nl.var(t, axis=1), x),
                                       x.astype(float).var(axis=1, keepdims=True), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(run(lambda t: nl.var(t, axis=2), CUBE),
                                   CUBE.var(axis=2, keepdims=True), rtol=1e-4)
        np.testing.assert_allclose(run(lambda t: nl.var(t, axis=(1, 2)), CUBE),
                                   CUBE.var(axis=(1, 2), keepdims=True), rtol=1e-4)

    def test_all(self):
        x = np.ones((4, 6), np.float32)
        x[1, 3] = 0
        self.assertEqual(run(lambda t: nl.all(t, axis=1), x)[:, 0].tolist(), [1, 0, 1, 1])

    def test_types(self):
        bf16 = X.astype("bfloat16")
        self.assertEqual(run(lambda x: nl.sum(x, axis=1), bf16).dtype, "bfloat16")
        got = run(lambda x: nl.sum(x, axis=1, dtype=nl.float32), bf16)
        np.testing.assert_allclose(got, bf16.astype(float).sum(axis=1, keepdims=True), rtol=1e-5)

    def test_refusals(self):
        for axis in (0, (0, 1), 3):
            with refused(self, "shape", "last dimensions"):
                run(lambda x: nl.sum(x, axis=axis), X)
        with refused(self, "shape", "last dimensions"):
            run(lambda x: nl.max(x, axis=1), CUBE)


class Normalization(unittest.TestCase):
    def test_softmax(self):
        def exact(x, axis):
            raised = np.exp(x.astype(float) - x.max(axis=axis, keepdims=True))
            return raised / raised.sum(axis=axis, keepdims=True)
        np.testing.assert_allclose(run(nl.softmax, X), exact(X, 1), rtol=2e-6)
        np.testing.assert_allclose(run(nl.softmax, CUBE), exact(CUBE, 2), rtol=2e-6)
        np.testing.assert_allclose(run(lambda x: nl.softmax(x, axis=(1, 2)), CUBE),
                                   exact(CUBE, (1, 2)), rtol=2e-6)
        large = np.array([[1000, 1000, -1000]], np.float32)
        np.testing.assert_allclose(run(nl.softmax, large), [[0.5, 0.5, 0]])

    def test_rms_norm(self):
        weights = RANDOM.rand(16, 40).astype(np.float32)
        exact = X / np.sqrt((X.astype(float) ** 2).mean(axis=1, keepdims=True) + 1e-6)
        np.testing.assert_allclose(run(lambda x, w: nl.rms_norm(x, w, axis=1, n=40), X, weights),
                                   exact * weights, rtol=3e-6)
        row = weights[:1].copy()
        np.testing.assert_allclose(run(lambda x, w: nl.rms_norm(x, w, axis=1, n=40), X, row),
                                   exact * row, rtol=3e-6)
        got = run(lambda x, w: nl.rms_norm(x, w, axis=1, n=40, dtype=nl.bfloat16), X, weights)
        self.assertEqual(got.dtype, "bfloat16")


class TileSize(unittest.TestCase):
    def test_of_trainium2(self):
        size = nl.tile_size
        self.assertEqual((size.pmax, size.psum_bank_fmax, size.psum_fmax, size.psum_bank_fmax_bytes,
                          size.psum_num_banks), (128, 512, 512, 2048, 8))
        self.assertEqual((size.gemm_stationary_fmax, size.gemm_moving_fmax, size.bn_stats_fmax),
                         (128, 512, 512))
        self.assertEqual(size.sbuf_size_bytes, 28 * 2 ** 20)
        self.assertEqual(size.sbuf_fmax_bytes, size.total_available_sbuf_size)
        self.assertEqual(size.sbuf_fmax, size.sbuf_fmax_bytes // 4)
        self.assertGreaterEqual(size.psum_min_align, 1)
        self.assertGreaterEqual(size.sbuf_min_align, 1)

    def test_memories(self):
        self.assertTrue(nl.is_sbuf(nl.sbuf) and nl.is_psum(nl.psum) and nl.is_on_chip(nl.psum))
        self.assertTrue(nl.is_hbm(nl.hbm) and nl.is_hbm(nl.shared_hbm))
        self.assertFalse(nl.is_hbm(nl.sbuf) or nl.is_on_chip(nl.hbm) or nl.is_sbuf(nl.psum))
        self.assertIs(nl.hbm, nl.private_hbm)


if __name__ == "__main__":
    warnings.simplefilter("error", DeprecationWarning)
    unittest.main()
