"""Loops, the launch grid and printing of nki.language."""
import contextlib
import io
import unittest
import warnings

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np

from tiles import refused, run, run_on_hbm

X = np.arange(40, dtype=np.float32).reshape(1, 40)


def register_of(value):
    """A register that got its value at run time."""
    tile = nl.full((1, 1), value, nl.int32)
    register = nisa.register_alloc()
    nisa.register_load(register, tile)
    return register


class StaticLoops(unittest.TestCase):
    def test_are_python_ranges(self):
        for loop in (nl.affine_range, nl.sequential_range, nl.static_range):
            self.assertEqual(list(loop(3)), [0, 1, 2])
            self.assertEqual(list(loop(1, 7, 2)), [1, 3, 5])
            self.assertEqual(list(loop(5, step=2)), [0, 2, 4])
            self.assertIsInstance(loop(3), range)
            with refused(self, "argument", "expected Python integers"):
                loop("3")

    def test_refuse_registers(self):
        with refused(self, "argument", "nl.fori_loop"):
            run(lambda: [nl.affine_range(register_of(3)), nl.zeros((1, 1), nl.int32)][1])


class DynamicLoops(unittest.TestCase):
    @staticmethod
    def squares(loop):
        """Squares element i of a tensor for each turn of `loop`."""
        def kernel(x):
            out = nl.zeros(x.shape, x.dtype, buffer=nl.shared_hbm)

            def body(i):
                tile = nl.ndarray((1, 1), x.dtype)
                nisa.dma_copy(dst=tile, src=x.ap([[1, 1], [1, 1]], scalar_offset=i, indirect_dim=1))
                nisa.tensor_tensor(dst=tile, data1=tile, data2=tile, op=nl.multiply)
                nisa.dma_copy(dst=out.ap([[1, 1], [1, 1]], scalar_offset=i, indirect_dim=1), src=tile)
            loop(body)
            return out
        return run_on_hbm(kernel, X)[0].tolist()

    def test_fori_loop(self):
        expected = [i * i if i < 5 else 0 for i in range(40)]
        self.assertEqual(self.squares(lambda body: nl.fori_loop(0, 5, body)), expected)
        self.assertEqual(self.squares(lambda body: nl.fori_loop(0, register_of(5), body)), expected)
        odd = [i * i if i in (3, 5, 7) else 0 for i in range(40)]
        self.assertEqual(self.squares(lambda body: nl.fori_loop(register_of(3), 8, body, step=2)), odd)
        none = [0] * 40
        self.assertEqual(self.squares(lambda body: nl.fori_loop(register_of(4), 4, body)), none)

    def test_dynamic_range(self):
        def loop(body):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                turns = nl.dynamic_range(1, register_of(4))
            self.assertEqual([w.category for w in caught], [DeprecationWarning])
            for i in turns:
                body(i)
        self.assertEqual(self.squares(loop)[:6], [0, 1, 4, 9, 0, 0])

    def test_the_loop_register_is_read_only(self):
        with refused(self, "argument", "induction|loop"):
            run(lambda: nl.fori_loop(0, 1, lambda i: nisa.register_move(i, 7)))

    def test_while_loop(self):
        def body():
            count, one = nl.full((1, 1), 3, nl.int32), nl.full((1, 1), 1, nl.int32)
            total = nl.zeros((1, 1), nl.int32)
            register = nisa.register_alloc()
            nisa.register_load(register, count)

            def turn(r):
                nisa.tensor_tensor(dst=total, data1=total, data2=count, op=nl.add)
                nisa.tensor_tensor(dst=count, data1=count, data2=one, op=nl.subtract)
                nisa.register_load(r, count)
                return r
            nl.while_loop(register, turn)
            nl.while_loop(register_of(0), lambda r: self.fail("the condition is false at once"))
            return total
        self.assertEqual(run(body).tolist(), [[3 + 2 + 1]])

    def test_refusals(self):
        with refused(self, "argument", "step is 0"):
            run(lambda: nl.fori_loop(0, 3, print, step=0))
        with refused(self, "argument", "positive Python integer"):
            run(lambda: nl.fori_loop(0, 3, print, step=register_of(1)))
        with refused(self, "argument", "an integer or a register"):
            run(lambda: nl.fori_loop(0, 2.5, print))
        with refused(self, "argument", "expected a register"):
            run(lambda: nl.while_loop(1, print))
        with refused(self, "argument", "expected a register"):
            run(lambda: nl.while_loop(register_of(1), lambda r: None))

        def inside():
            with nl.no_reorder():
                nl.fori_loop(0, 2, print)
        with refused(self, "unsupported", "within nl.no_reorder"):
            run(inside)


class Order(unittest.TestCase):
    def test_no_reorder(self):
        def body(x):
            with nl.no_reorder():
                for _ in nl.static_range(2):
                    with nl.no_reorder():
                        x = nl.add(x, 1.0)
            return x
        np.testing.assert_array_equal(run(body, X), X + 2)

    def test_an_exception_ends_the_block(self):
        def body(x):
            with contextlib.suppress(KeyError):
                with nl.no_reorder():
                    raise KeyError
            total = []
            nl.fori_loop(0, 2, total.append)  # would be refused inside the block
            return x
        run(body, X)


class Grid(unittest.TestCase):
    def test_one_core(self):
        def body(x):
            self.assertEqual((nl.program_id(), nl.program_id(0), nl.num_programs(), nl.num_programs(0)),
                             (0, 0, 1, 1))
            self.assertEqual(nl.program_ndim(), 0)
            return x
        run(body, X)

    def test_two_cores(self):
        def kernel(x):
            self.assertEqual((nl.num_programs(axes=0), nl.program_ndim()), (2, 1))
            out = nl.ndarray((2, 20), x.dtype, buffer=nl.shared_hbm)
            mine = nl.load(x[:, nl.ds(20 * nl.program_id(axis=0), 20)])
            nl.store(out[nl.ds(nl.program_id(), 1), :], nl.multiply(mine, 2.0))
            return out
        np.testing.assert_array_equal(run_on_hbm(kernel, X, cores=2), 2 * X.reshape(2, 20))

    def test_refusals(self):
        with refused(self, "argument", "axis 1"):
            run(lambda: nl.program_id(1))
        with refused(self, "argument", "axis 2"):
            run(lambda: nl.num_programs((0, 2)))


class Printing(unittest.TestCase):
    def test_device_print(self):
        def body(x):
            nl.device_print("the tile:", nl.add(x, 0.5))
            return x
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            run(body, X[:, :3].copy())
        self.assertEqual(printed.getvalue(), "the tile: (1, 3) float32\n[[0.5 1.5 2.5]]\n")

    def test_refusals(self):
        with refused(self, "argument", "expected a string"):
            run(lambda x: nl.device_print(x, x), X)
        with refused(self, "argument", "expected a tensor"):
            run(lambda x: nl.device_print("x", 3), X)


if __name__ == "__main__":
    unittest.main()
