"""Element types, annotations, objects and the kernel builder of the nki package."""
import dataclasses
import pickle
import subprocess
import sys
import textwrap
import types
import unittest

import nki
import nki.dtype
import nki.experimental
import nki.isa as nisa
import nki.language as nl
import nki.meta
import nki.tensor
import nki.typing as nt
import numpy as np
from nki.compiler.kernel_builder import compile_kernel

from tiles import refused

X = np.arange(6, dtype=np.float32).reshape(2, 3)


class ElementTypes(unittest.TestCase):
    def test_are_strings_that_equal_numpys(self):
        self.assertEqual(nl.float32, "float32")
        self.assertEqual(nl.float32, np.float32)
        self.assertEqual(nl.bfloat16, np.dtype("bfloat16"))
        self.assertNotEqual(nl.float32, nl.bfloat16)
        self.assertEqual({nl.float32: 4}["float32"], 4)
        self.assertEqual((nl.float8_e4m3fn_x4.itemsize, nl.bool_.itemsize), (4, 1))
        self.assertEqual(pickle.loads(pickle.dumps(nl.bfloat16)), nl.bfloat16)

    def test_numpy_takes_them(self):
        for dtype in (nl.float32, nl.bfloat16, nl.float8_e5m2, nl.int8, nl.uint16, nl.bool_):
            self.assertEqual(np.zeros(2, dtype).dtype, nki.dtype.to_numpy(dtype))

    def test_how_arrays_hold_them(self):
        self.assertEqual(nki.dtype.to_numpy(nl.tfloat32), np.float32)
        self.assertEqual(nki.dtype.to_numpy("bfloat16").itemsize, 2)
        self.assertEqual(nki.dtype.to_numpy(nl.float8_e4m3fn_x4), np.uint32)
        self.assertEqual(nki.dtype.to_numpy(nl.float4_e2m1fn_x4), np.uint16)
        with refused(self, "dtype", "float12"):
            nki.dtype.to_numpy("float12")

    def test_types_of_other_packages_go_by_name_and_size(self):
        for name, dtype in (("bfloat16", nl.bfloat16), ("float8_e4m3", nl.float8_e4m3)):
            self.assertEqual(dtype, types.SimpleNamespace(name=name, itemsize=dtype.itemsize))

    def test_arrays_of_ml_dtypes(self):
        # A module of that name that registers a NumPy type of its own, as ml_dtypes does.
        program = """
            import sys, types
            import numpy as np
            stand_in = types.ModuleType("ml_dtypes")
            from nki import _numpy_dtypes
            for name in ("bfloat16", "float8_e5m2"):
                setattr(stand_in, name, getattr(_numpy_dtypes, name))
            sys.modules["ml_dtypes"] = stand_in
            for name in [n for n in sys.modules if n.startswith("nki")]:
                if name not in ("nki._numpy_dtypes", "nki._core"):
                    del sys.modules[name]
            import nki, nki.dtype, nki.language as nl
            assert nki.dtype._numpy_types is stand_in
            assert nki.dtype.to_numpy(nl.bfloat16).type is stand_in.bfloat16
            # A kind that this ml_dtypes does not have comes from us.
            assert nki.dtype.to_numpy(nl.float8_e4m3).name == "float8_e4m3"
        """
        subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


class Annotations(unittest.TestCase):
    def test_shapes(self):
        self.assertEqual(nt.tensor[128, 512].shape, (128, 512))
        self.assertEqual(nt.tensor[(2, 3)].shape, (2, 3))
        self.assertEqual(nt.tensor[4].shape, (4,))
        self.assertEqual(nt.tensor[4, 5, nl.bfloat16].dtype, nl.bfloat16)
        self.assertIs(nki.meta.tensor, nt.tensor)
        self.assertIs(nki.tensor.tensor, nt.tensor)
        self.assertIs(nl.tensor, nl.NkiTensor)

    def test_on_kernels(self):
        def kernel(x: nt.tensor[2, 3], out_type: nki.dtype) -> nt.tensor[2, 3]:
            out = nl.ndarray(x.shape, out_type, buffer=nl.shared_hbm)
            nl.store(out, nl.load(x))
            return out
        self.assertEqual(nki.simulate(kernel)(X, nl.bfloat16).dtype, "bfloat16")


class Objects(unittest.TestCase):
    def test_without_dataclass(self):
        class Tiling(nl.NKIObject):
            rows: int
            columns: int = 5
            done: bool = False

            def finish(self):
                self.done = True

        tiling = Tiling(3, done=False)
        tiling.finish()
        self.assertEqual((tiling.rows, tiling.columns, tiling.done), (3, 5, True))
        self.assertEqual(Tiling(3), Tiling(rows=3))
        self.assertNotEqual(Tiling(3), Tiling(4))
        self.assertEqual(repr(Tiling(3)), "Tiling(rows=3, columns=5, done=False)")
        with self.assertRaisesRegex(TypeError, "takes 3 arguments"):
            Tiling(1, 2, 3, 4)
        with self.assertRaisesRegex(TypeError, "twice"):
            Tiling(1, rows=2)

    def test_dataclasses(self):
        @dataclasses.dataclass(frozen=True)
        class Sizes(nki.NKIObject):
            rows: int
            columns: int = 2

        @dataclasses.dataclass
        class Limits(nl.NKIObject):
            most: int

            def __post_init__(self):
                self.half = self.most // 2

        @dataclasses.dataclass
        class Section(nl.NKIObject):
            index = None  # a field to the chip's compiler, which reads no annotations
            offset = 0

            def end(self):
                return self.offset + 1

        self.assertEqual((Sizes(1).columns, Limits(8).half), (2, 4))
        self.assertEqual((Section(index=3).index, Section(1, 2).end()), (3, 3))
        self.assertEqual(hash(Sizes(1)), hash(Sizes(1)))


class KernelBuilder(unittest.TestCase):
    @staticmethod
    def process(source, result, tile_fn):
        tile = nl.load(source)
        tile_fn(tile)
        nisa.dma_copy(dst=result, src=tile)

    def test_compile_kernel(self):
        result = np.zeros_like(X)

        def double(tile):
            nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
        compiled = compile_kernel(self.process, inputs={"source": X}, outputs={"result": result},
                                  tile_fn=double)
        np.testing.assert_array_equal(result, 2 * X)
        result[:] = 0
        self.assertIs(compiled()["result"], result)
        np.testing.assert_array_equal(result, 2 * X)

    def test_a_name_twice(self):
        with refused(self, "argument", "source given twice"):
            compile_kernel(self.process, inputs={"source": X}, outputs={"source": X}, tile_fn=print)

    def test_loops_of_before(self):
        self.assertIs(nki.experimental.while_loop, nl.while_loop)
        self.assertIs(nki.experimental.fori_loop, nl.fori_loop)


if __name__ == "__main__":
    unittest.main()
