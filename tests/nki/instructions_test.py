"""The functions of nki.isa: each can be called, and refuses what it should in words."""
import inspect
import os
import sys
import unittest

import nki
import nki.isa as nisa
import nki.language as nl
from nki import _core

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from legal_calls import CALLS, FOURTH_GENERATION, TWO_CORES, tile, x  # noqa: E402
from tiles import platform, refused  # noqa: E402


def in_kernel(body, cores=1):
    return nki.simulate(body)[cores]()


class EveryInstruction(unittest.TestCase):
    def test_a_legal_call(self):
        for name in _core.INSTRUCTIONS:
            with self.subTest(name), platform("trn3" if name in FOURTH_GENERATION else "trn2"):
                def kernel():
                    result = getattr(nisa, name)(**CALLS[name]())
                    self.assertIsInstance(result, nisa.NkiInstruction)
                in_kernel(kernel, 2 if name in TWO_CORES else 1)

    def test_the_fourth_generation_is_named(self):
        for name in FOURTH_GENERATION & set(_core.INSTRUCTIONS):
            with self.subTest(name), refused(self, "generation", "trn2"):
                in_kernel(lambda: getattr(nisa, name)(**CALLS[name]()))

    def test_outside_a_kernel(self):
        for name in _core.INSTRUCTIONS:
            with self.subTest(name), refused(self, "outside-kernel", name):
                getattr(nisa, name)()

    def test_looks_like_a_function(self):
        self.assertEqual(nisa.tensor_copy.__name__, "tensor_copy")
        self.assertEqual(nisa.tensor_copy.__module__, "nki.isa")
        self.assertIn("tensor_copy(dst, src", inspect.getdoc(nisa.tensor_copy))
        self.assertIn("tensor_copy", repr(nisa.tensor_copy))
        self.assertEqual(nisa.tensor_copy.parameters, ("dst", "src", "engine", "name"))


class Arguments(unittest.TestCase):
    def refused(self, text, call):
        with refused(self, "argument", text) as caught:
            in_kernel(call)
        return caught

    def test_unknown_keyword_names_the_nearest(self):
        self.refused("no parameter is called scr; did you mean src?", lambda: nisa.tensor_copy(dst=x(), scr=x()))
        self.refused("expected one of dst, src", lambda: nisa.tensor_copy(dst=x(), completely_else=x()))

    def test_missing_twice_and_too_many(self):
        self.refused("src is missing; parameters: dst, src", lambda: nisa.tensor_copy(x()))
        self.refused("dst is given twice", lambda: nisa.tensor_copy(x(), x(), dst=x()))
        self.refused("5 arguments by position", lambda: nisa.tensor_copy(1, 2, 3, 4, 5))

    def test_errors_are_type_errors_and_value_errors(self):
        for base in (TypeError, ValueError, AssertionError, nki.NkiError):
            with self.assertRaises(base):
                in_kernel(lambda: nisa.tensor_copy(x()))

    def test_wrong_kinds(self):
        self.refused("src: expected a tensor, got 3", lambda: nisa.tensor_copy(dst=x(), src=3))
        self.refused("value: expected a number, got 'one'", lambda: nisa.memset(dst=x(), value="one"))
        self.refused("op: .* is no operation", lambda: nisa.tensor_tensor(dst=x(), data1=x(), data2=x(), op="add"))
        self.refused("exp is no operation", lambda: nisa.tensor_tensor(dst=x(), data1=x(), data2=x(), op=nl.exp))
        self.refused("is no engine; expected one of engine.tensor",
                     lambda: nisa.tensor_copy(dst=x(), src=x(), engine=99))
        self.refused("axis: expected an integer", lambda: nisa.tensor_reduce(dst=x(1), op=nl.add, data=x(), axis="1"))
        self.refused(r"pattern: expected \[\[step, size\]", lambda: nisa.iota(dst=x(dtype=nl.int32), pattern=[1, 64]))

    def test_positional_and_keyword_alike(self):
        def kernel():
            nisa.tensor_tensor(x(), x(), data2=x(), op=nl.add)
            nisa.tensor_tensor(op=nl.add, data2=x(), data1=x(), dst=x())
        in_kernel(kernel)

    def test_numpy_functions_and_numbers(self):
        import numpy as np

        def kernel():
            nisa.tensor_tensor(dst=x(), data1=x(), data2=x(), op=np.add)
            nisa.activation(dst=x(), op=np.exp, data=x())
            nisa.tensor_scalar(dst=x(), data=x(), op0=np.multiply, operand0=np.float32(2))
            nisa.memset(dst=x(), value=np.float64(1.5))
            nisa.memset(dst=x(dtype=nl.int32), value=np.int64(3))
            nisa.tensor_copy_predicated(dst=x(), src=x(), predicate=x(dtype=nl.uint8), reverse_pred=np.bool_(True))
        in_kernel(kernel)

    def test_the_place_in_the_kernel(self):
        with self.assertRaises(nki.NkiError) as caught:
            in_kernel(lambda: nisa.tensor_copy(dst=x(8), src=x(9)))
        self.assertRegex(str(caught.exception), r"\(at instructions_test.py:\d+\)")


class Edges(unittest.TestCase):
    def test_depends_on(self):
        def kernel():
            first = nisa.memset(dst=x(), value=1.0)
            second = nisa.memset(dst=x(), value=2.0)
            self.assertIs(second.depends_on(first), second)
            for wrong, text in ((lambda: first.depends_on(second), "cannot wait for"),
                                (lambda: second.depends_on(3), "is no instruction")):
                with refused(self, "argument", text):
                    wrong()
        in_kernel(kernel)

    def test_with_schedule(self):
        @nki.jit
        def kernel():
            nisa.memset(dst=x(), value=1.0, name="first")
            nisa.memset(dst=x(), value=1.0, name="second")

        kernel.with_schedule([("second", "first")])()
        kernel.with_schedule([("second", ["first"])])()
        with refused(self, "argument", "no instruction is named third"):
            kernel.with_schedule([("third", "first")])()
        with refused(self, "unsupported", "second, which no instruction before"):
            kernel.with_schedule([("first", "second")])()
        with refused(self, "argument", "is no edge"):
            kernel.with_schedule(["first"])


class Registers(unittest.TestCase):
    def test_values(self):
        def kernel():
            register = nisa.register_alloc(5)
            self.assertTrue(register)
            nisa.register_move(register, 0)
            self.assertFalse(register)
            nisa.register_load(register, tile((1, 1), nl.int32, -3))
            self.assertEqual(_core.read_register(register), -3)
            copy = nisa.register_alloc()
            nisa.register_move(copy, register)
            self.assertIn("-3", repr(copy))
        in_kernel(kernel)

    def test_no_python_integers(self):
        def kernel():
            register = nisa.register_alloc(5)
            for use in (int, range, lambda r: r + 1, lambda r: 2 * r, lambda r: [1, 2][r], float):
                with self.assertRaises(TypeError):
                    use(register)
        in_kernel(kernel)

    def test_nothing_written(self):
        with refused(self, "uninitialized", "register"):
            in_kernel(lambda: bool(nisa.register_alloc()))

    def test_values_are_needed(self):
        with _core.Session(values=False), refused(self, "unsupported", "shapes and times only"):
            bool(nisa.register_alloc(1))

    def test_a_loops_own_register_stays(self):
        def body(i):
            with refused(self, "argument", "may be written"):
                nisa.register_move(i, 3)
        in_kernel(lambda: nl.fori_loop(0, 2, body))


class Generation(unittest.TestCase):
    def test_of_the_environment(self):
        for name, version in (("trn1", nisa.nc_version.gen2), ("gen3", nisa.nc_version.gen3), ("trn3", nisa.nc_version.gen4)):
            with platform(name):
                self.assertEqual(nisa.get_nc_version(), version)
        self.assertEqual(nisa.get_nc_sub_version(), 0)
        with platform("trn9"), refused(self, "argument", "NEURON_PLATFORM_TARGET_OVERRIDE"):
            nisa.get_nc_version()


if __name__ == "__main__":
    unittest.main()
