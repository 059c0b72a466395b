"""The older generation, neuronxcc.nki: whole kernels with masks, index expressions, blocks, grids and accumulation."""
import unittest

import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np


def random(*shape):
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


class Expressions(unittest.TestCase):
    def test_a_tile_at_an_affine_place(self):
        @nki.jit
        def corner(a):
            out = nl.ndarray((16, 8), dtype=a.dtype, buffer=nl.shared_hbm)
            rows, columns = nl.mgrid[0:16, 0:8]
            for i in nl.affine_range(1, 2):
                tile = nl.load(a[16 * i + rows, 3 * columns + 1])
                nl.store(out[rows, columns], tile)
            return out
        a = random(32, 32)
        np.testing.assert_array_equal(corner(a), a[16:32, 1:25:3])

    def test_three_dimensions_fold_into_one(self):
        @nki.jit
        def fold(a):
            out = nl.ndarray((32, 24), dtype=a.dtype, buffer=nl.shared_hbm)
            p, x, y = nl.arange(32)[:, None, None], nl.arange(4)[None, :, None], nl.arange(6)[None, None, :]
            tile = nl.ndarray((nl.par_dim(32), 24), dtype=a.dtype)
            tile[p, 6 * x + y] = nl.load(a[p, x, y])
            nl.store(out, value=tile)
            return out
        a = random(32, 4, 6)
        np.testing.assert_array_equal(fold(a), a.reshape(32, 24))

    def test_rows_chosen_by_a_tile(self):
        @nki.jit
        def choose(a, rows):
            out = nl.ndarray((8, 16), dtype=a.dtype, buffer=nl.shared_hbm)
            p, f = nl.arange(8)[:, None], nl.arange(16)[None, :]
            places = nl.load(rows[p])
            nl.store(out, nl.load(a[places[p, 0], f]))
            return out
        a, rows = random(64, 16), np.array([5, 60, 2, 2, 0, 33, 7, 1], np.int32)
        np.testing.assert_array_equal(choose(a, rows), a[rows])


class Masks(unittest.TestCase):
    def test_the_last_tile_of_a_tensor(self):
        @nki.jit
        def double(a):
            out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
            rows, columns = a.shape
            p, f = nl.arange(128)[:, None], nl.arange(64)[None, :]
            for i in nl.affine_range((rows + 127) // 128):
                inside = (128 * i + p < rows) & (f < columns)
                tile = nl.load(a[128 * i + p, f], mask=inside)
                nl.store(out[128 * i + p, f], nl.multiply(tile, 2.0, mask=inside), mask=inside)
            return out
        a = random(200, 50)
        np.testing.assert_array_equal(double(a), 2 * a)

    def test_masks_joined_by_and(self):
        @nki.jit
        def part(a):
            out = nl.ndarray((4, 5), dtype=a.dtype, buffer=nl.shared_hbm)
            p, f = nl.mgrid[0:8, 0:8]
            tile = nl.load(a)
            nl.store(out[p, f], tile, mask=(p < 4 and f < 5))
            return out
        a = random(8, 8)
        np.testing.assert_array_equal(part(a), a[:4, :5])

    def test_nothing_left_is_no_instruction(self):
        @nki.jit
        def keep(a):
            out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
            p, f = nl.mgrid[0:8, 0:8]
            tile = nl.load(a)
            tile[p, f] = nl.add(tile, 1.0, mask=(p >= 8))
            nl.store(out, tile)
            return out
        a = random(8, 8)
        np.testing.assert_array_equal(keep(a), a)


class Results(unittest.TestCase):
    def test_products_accumulate_in_psum(self):
        @nki.jit
        def product(a, b):
            out = nl.ndarray((64, 96), dtype=nl.float32, buffer=nl.shared_hbm)
            total = nl.zeros((64, 96), nl.float32, buffer=nl.psum)
            for k in nl.affine_range(a.shape[0] // 128):
                total += nisa.nc_matmul(nl.load(a[nl.ds(128 * k, 128), :]), nl.load(b[nl.ds(128 * k, 128), :]))
            nl.store(out, total)
            return out
        a, b = random(384, 64), random(384, 96)
        np.testing.assert_allclose(product(a, b), a.T @ b, rtol=1e-4, atol=1e-4)

    def test_masked_products_accumulate_beside_zeros(self):
        @nki.jit
        def product(a, b):
            out = nl.ndarray((64, 96), dtype=nl.float32, buffer=nl.shared_hbm)
            total = nl.zeros((nl.par_dim(64), 96), nl.float32, buffer=nl.psum)
            k, m, n = nl.arange(128)[:, None], nl.arange(64)[None, :], nl.arange(96)[None, :]
            rows = nl.arange(64)[:, None]
            for i in nl.affine_range(2):
                left, right = nl.load(a[128 * i + k, m]), nl.load(b[128 * i + k, n])
                total[rows, n] += nisa.nc_matmul(left[k, m], right[k, n], mask=(n < 40))
            nl.store(out, total)
            return out
        a, b = random(256, 64), random(256, 96)
        b[:, 40:] = 9  # what the mask leaves out is not in the sum
        expected = a.T @ b
        expected[:, 40:] = 0
        np.testing.assert_allclose(product(a, b), expected, rtol=1e-4, atol=1e-4)

    def test_a_destination_takes_the_result_without_a_copy(self):
        @nki.jit
        def fill(a):
            out = nl.ndarray((2, 32, 8), dtype=a.dtype, buffer=nl.shared_hbm)
            tiles = nl.ndarray((2, nl.par_dim(32), 8), dtype=a.dtype)
            for i in nl.affine_range(2):
                tiles[i] = nl.load(a[i])
                nl.store(out[i], nl.exp(tiles[i]))
            return out
        a = random(2, 32, 8)
        np.testing.assert_allclose(fill(a), np.exp(a), rtol=1e-6)

    def test_a_named_result_keeps_its_value(self):
        @nki.jit
        def both(a):
            out = nl.ndarray((2, 8, 8), dtype=a.dtype, buffer=nl.shared_hbm)
            tile = nl.ndarray((8, 8), dtype=a.dtype)
            first = nl.load(a)
            tile[...] = first
            tile[...] = nl.add(tile, 1.0)
            nl.store(out[0], first)
            nl.store(out[1], tile)
            return out
        a = random(8, 8)
        np.testing.assert_array_equal(both(a), np.stack([a, a + 1]))

    def test_the_vector_engine_transposes_tiles_larger_than_its_squares(self):
        @nki.jit
        def turned(a):
            out = nl.ndarray((70, 128), dtype=a.dtype, buffer=nl.shared_hbm)
            tile = nl.load(a)
            nl.store(out, nisa.nc_transpose(tile, engine=nisa.engine.vector))
            return out
        a = random(128, 70)
        np.testing.assert_array_equal(turned(a), a.T)

    def test_a_loop_is_reduced(self):
        @nki.jit
        def total(a):
            out = nl.ndarray((16, 8), dtype=a.dtype, buffer=nl.shared_hbm)
            sums = nl.full((16, 8), 0.0, dtype=a.dtype)
            for i in nl.sequential_range(4):
                sums[...] = nl.loop_reduce(nl.load(a[i]), op=np.add, loop_indices=[i])
            nl.store(out, sums)
            return out
        a = random(4, 16, 8)
        np.testing.assert_allclose(total(a), a.sum(0), rtol=1e-5)


    def test_a_row_is_chosen_from_in_all_partitions(self):
        @nki.jit
        def choose(a, row):
            out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
            tile = nl.load(a)
            nl.store(out, nl.where(nl.greater(tile, 0.0), nl.load(row), tile))
            return out
        a, row = random(16, 8), random(1, 8)
        np.testing.assert_array_equal(choose(a, row), np.where(a > 0, row, a))


class Launches(unittest.TestCase):
    def test_programs_of_a_grid_share_their_output(self):
        @nki.jit
        def scale(a):
            out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
            i, j = nl.program_id(0), nl.program_id(1)
            nl.store(out[i, j], nl.load(a[i, j]) * float(1 + nl.num_programs(0)))
            return out
        a = random(4, 2, 8, 8)
        for grid in ((4, 2), (nl.spmd_dim(nl.nc(2), 2), 2), (2 * nl.nc(2), 2)):
            np.testing.assert_array_equal(scale[grid](a), 5 * a)

    def test_a_result_among_the_arguments(self):
        @nki.trace
        def copy(a, b):
            nl.store(b, nl.load(a))
        a, b = random(8, 8), np.empty((8, 8), np.float32)
        nki.simulate_kernel(copy, a, b)
        np.testing.assert_array_equal(a, b)

    def test_tiles_at_their_own_addresses(self):
        @ncc.skip_middle_end_transformations
        @nki.jit
        def turn(a):
            out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
            tiles = nl.ndarray((4, nl.par_dim(64), 64), dtype=a.dtype,
                               buffer=ncc.sbuf.mod_alloc(base_addr=0, num_free_tiles=(2,)))
            turned = nl.ndarray((4, nl.par_dim(64), 64), dtype=a.dtype,
                                buffer=ncc.psum.mod_alloc(base_bank=0, num_bank_tiles=(2,)))
            ones = nl.ndarray((nl.par_dim(64), 64), dtype=a.dtype, buffer=ncc.sbuf.alloc(lambda *_: (0, 1024)))
            ones[...] = nl.load(nl.shared_identity_matrix(64, dtype=nl.float32))
            for i in nl.affine_range(4):
                tiles[i] = nl.load(a[i])
                turned[i] = nisa.nc_matmul(tiles[i], ones[...])
                nl.store(out[i], nl.copy(turned[i]))
            return out
        a = random(4, 64, 64)
        np.testing.assert_array_equal(turn(a), a.transpose(0, 2, 1))


if __name__ == "__main__":
    unittest.main()
