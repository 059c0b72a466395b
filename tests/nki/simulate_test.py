"""nki.jit and nki.simulate: arguments in, results out, errors, two cores."""
import io
import os
import sys
import traceback
import unittest
import warnings

import numpy as np

import nki
import nki.isa as nisa
import nki.language as nl

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from legal_calls import hbm, tile, x  # noqa: E402
from tiles import refused  # noqa: E402

A = np.arange(128 * 64, dtype=np.float32).reshape(128, 64) / 64
BF16 = nl.bfloat16


def on_chip(tensor):
    result = nl.ndarray(tensor.shape, dtype=tensor.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=result, src=tensor)
    return result


def out(tile_):
    result = nl.ndarray(tile_.shape, dtype=tile_.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=result, src=tile_)
    return result


@nki.jit
def copy(a):
    return out(on_chip(a))


@nki.jit()
def double(a, factor=2.0):
    """Twice a."""
    result = on_chip(a)
    nisa.tensor_scalar(dst=result, data=result, op0=nl.multiply, operand0=factor)
    return out(result)


class Results(unittest.TestCase):
    def test_forms_of_a_call(self):
        for call in (copy, copy[1], nki.simulate(copy), nki.simulate(copy.function), nki.jit(mode="simulation")(copy.function)):
            np.testing.assert_array_equal(call(A), A)
        self.assertEqual((double.__name__, double.__doc__), ("double", "Twice a."))
        np.testing.assert_array_equal(double(a=A, factor=3), A * 3)

    def test_every_type(self):
        from nki import dtype as dtypes
        for name in ("float32", "float16", "bfloat16", "float8_e4m3", "float8_e5m2", "int32", "int16", "int8", "uint32",
                     "uint16", "uint8", "bool"):
            with self.subTest(name):
                given = (np.arange(128).reshape(16, 8) % 2).astype(dtypes.to_numpy(name))
                given_back = copy(given)
                self.assertEqual(given_back.dtype, given.dtype)
                self.assertTrue((given_back == given).all())

    def test_strided_and_read_only_arrays(self):
        given = A[::2, ::-1]
        np.testing.assert_array_equal(copy(given), given)
        given = A.copy()
        given.flags.writeable = False
        np.testing.assert_array_equal(copy(given), given)

    def test_several_results_and_nested_arguments(self):
        @nki.jit
        def kernel(pair, options, scale):
            first, second = pair
            return {"sum": copy(first), "rest": [copy(second), copy(options["third"]), scale, None]}

        result = kernel((A, A + 1), {"third": A + 2}, 7)
        np.testing.assert_array_equal(result["sum"], A)
        np.testing.assert_array_equal(result["rest"][0], A + 1)
        np.testing.assert_array_equal(result["rest"][1], A + 2)
        self.assertEqual(result["rest"][2:], [7, None])

    def test_arguments_written_to(self):
        @nki.jit
        def kernel(source, target):
            nisa.dma_copy(dst=target[0:64], src=on_chip(source)[0:64])
            return target

        target = np.zeros_like(A)
        result = kernel(A, target)
        np.testing.assert_array_equal(target[:64], A[:64])
        np.testing.assert_array_equal(target[64:], 0)
        np.testing.assert_array_equal(result, target)

    def test_results_are_the_callers_own(self):
        result = copy(A)
        result += 1
        self.assertEqual(A[0, 0], 0)

    def test_returned_view(self):
        @nki.jit
        def kernel(a):
            return out(on_chip(a)).reshape((64, 128))[0:3, ::2]

        np.testing.assert_array_equal(kernel(A), A.reshape(64, 128)[0:3, ::2])

    def test_methods_and_objects(self):
        class Scaled(nki.NKIObject):
            def __init__(self, factor):
                self.factor = factor

            @nki.jit
            def run(self, a):
                return double.function(a, self.factor)

        np.testing.assert_array_equal(Scaled(4.0).run(A), A * 4)

    def test_same_bytes_every_time(self):
        @nki.jit
        def kernel(a):
            noise = nl.ndarray(a.shape, dtype=nl.uint32, buffer=nl.sbuf)
            nisa.rng(dst=noise)
            return out(noise)

        np.testing.assert_array_equal(kernel(A), kernel(A))


class Addresses(unittest.TestCase):
    def test_tiles_at_one_address_share_bytes(self):
        def kernel():
            first = nl.ndarray((32, 64), dtype=nl.float32, buffer=nl.sbuf, address=(0, 1024))
            second = nl.ndarray((32, 32), dtype=nl.float32, buffer=nl.sbuf, address=(0, 1024 + 128))
            nisa.memset(dst=first, value=1.0)
            nisa.memset(dst=second, value=2.0)
            return out(first)

        result = nki.simulate(kernel)()
        np.testing.assert_array_equal(result[:, [0, 31, 32, 63]], [[1, 1, 2, 2]] * 32)

    def test_addresses_are_multiples_of_the_element(self):
        def kernel(byte, dtype):
            tile = nl.ndarray((32, 9), dtype=dtype, buffer=nl.sbuf, address=(0, byte))
            nisa.memset(dst=tile, value=2.0)
            return out(tile)

        np.testing.assert_array_equal(nki.simulate(kernel)(10006, nl.bfloat16).astype(np.float32), 2)
        with refused(self, "capacity", "expected a multiple of 4, the size of its elements"):
            nki.simulate(kernel)(10006, nl.float32)

    def test_enumerations_by_number(self):
        def kernel(a, mode):
            tile = nl.ndarray((128, 64), dtype=a.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=a, dge_mode=mode)
            return out(tile)

        np.testing.assert_array_equal(nki.simulate(kernel)(A, 3), A)
        with refused(self, "argument", "7 is no dge_mode"):
            nki.simulate(kernel)(A, 7)

    def test_flatten_is_a_view(self):
        def kernel(a):
            flat = a.flatten()
            assert flat.shape == (128 * 64,) and a[3].flatten().shape == (64,), flat.shape
            tile = nl.ndarray((2, 64), dtype=a.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=flat[64:192].reshape((2, 64)))
            return out(tile)

        np.testing.assert_array_equal(nki.simulate(kernel)(A), A[1:3])

    def test_a_new_psum_tile_begins_a_new_sum(self):
        def kernel():
            ones = x(32)
            for _ in range(2):  # the bytes are those of the turn before
                psum = nl.ndarray((32, 32), dtype=nl.float32, buffer=nl.psum, address=(0, 0))
                for _ in range(3):
                    nisa.nc_matmul(dst=psum, stationary=ones, moving=ones)
            result = nl.ndarray((32, 32), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_copy(dst=result, src=psum)
            return out(result)

        np.testing.assert_array_equal(nki.simulate(kernel)(), 96)


class Refusals(unittest.TestCase):
    def test_results_must_be_in_hbm(self):
        with refused(self, "memory", "expected a tensor in nl.shared_hbm"):
            nki.simulate(on_chip)(A)

    def test_result_that_nothing_wrote(self):
        def kernel(a):
            return nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
        with refused(self, "uninitialized", "nothing has written it"):
            nki.simulate(kernel)(A)

    def test_result_written_in_part(self):
        def kernel(a):
            result = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
            nisa.dma_copy(dst=result[0:64], src=on_chip(a)[0:64])
            return result
        with self.assertWarnsRegex(UserWarning, "nothing has written 4096 elements"):
            result = nki.simulate(kernel)(A)
        np.testing.assert_array_equal(result[:64], A[:64])
        self.assertTrue(np.isnan(result[64:]).all())

    def test_types_that_the_chip_lacks(self):
        with refused(self, "dtype", r"argument 0: an array of float64.*astype"):
            copy(A.astype(np.float64))

    def test_tensors_that_outlive_their_kernel(self):
        kept = []
        nki.simulate(lambda a: kept.append(on_chip(a)))(A)
        self.assertEqual(kept[0].shape, (128, 64))
        kept[0].reshape((128, 8, 8))[:, 0]
        with refused(self, "outside-kernel", "has ended"):
            nki.simulate(lambda a: nisa.tensor_copy(dst=on_chip(a), src=kept[0]))(A)

    def test_launch(self):
        for cores in (0, 3, "2", 2.0, True, (1, 2)):
            with refused(self, "argument", r"kernel\["):
                copy[cores]

    def test_tracebacks_end_at_the_authors_line(self):
        def kernel(a):
            nisa.tensor_copy(dst=on_chip(a), src=on_chip(a)[:, 0:3])  # here
        try:
            nki.simulate(kernel)(A)
        except nki.NkiError as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
        self.assertEqual(last.name, "kernel")
        self.assertIn("# here", last.line)

    def test_what_the_kernel_raises_itself(self):
        def kernel(a):
            assert a.shape == (1, 1), "only small ones"
        with self.assertRaisesRegex(AssertionError, "^only small ones$"):
            nki.simulate(kernel)(A)


class Environment(unittest.TestCase):
    def with_variable(self, name, value, call):
        before = os.environ.get(name)
        os.environ[name] = value
        try:
            return call()
        finally:
            if before is None:
                del os.environ[name]
            else:
                os.environ[name] = before

    def test_without_rounding(self):
        def kernel(a):
            half = x(64, BF16)
            nisa.tensor_copy(dst=half, src=on_chip(a))
            return out(half)

        given = A[:32] + np.float32(1e-3)
        rounded = nki.simulate(kernel)(given)
        self.assertEqual(rounded.dtype, "bfloat16")
        self.assertFalse((rounded.astype(np.float32) == given).all())
        exact = self.with_variable("NKI_PRECISE_FP", "0", lambda: nki.simulate(kernel)(given))
        self.assertEqual(exact.dtype, np.float32)
        np.testing.assert_array_equal(exact, given)

    def test_without_rounding_arguments_too(self):
        given = A.astype(copy(A[:1]).dtype.type)
        from nki import dtype as dtypes
        given = given.astype(dtypes.to_numpy("bfloat16"))
        exact = self.with_variable("NKI_PRECISE_FP", "0", lambda: double(given))
        np.testing.assert_array_equal(exact, given.astype(np.float32) * 2)

    def test_without_rounding_no_bits(self):
        with refused(self, "unsupported", "NKI_PRECISE_FP=0"):
            self.with_variable("NKI_PRECISE_FP", "0", lambda: nki.simulate(lambda: x(64, BF16).view(nl.uint16))())

    def test_unwritten_values_instead_of_an_error(self):
        def kernel():
            return out(nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.sbuf))
        with refused(self, "uninitialized", "nothing has written"):
            nki.simulate(kernel)()
        result = self.with_variable("NKI_CHECK_UNINITIALIZED", "0", nki.simulate(kernel))
        self.assertTrue(np.isnan(result).all())

    def test_arguments_outside_the_range_of_an_activation(self):
        def kernel(a, op):
            result = on_chip(a)
            nisa.activation(dst=result, op=op, data=result)
            return out(result)
        zeros = np.zeros((4, 4), np.float32)
        np.testing.assert_array_equal(nki.simulate(kernel)(zeros, nl.sqrt), zeros)
        with refused(self, "undefined", "NKI_CHECK_RANGES=0"):
            nki.simulate(kernel)(zeros, nl.log)
        result = self.with_variable("NKI_CHECK_RANGES", "0", lambda: nki.simulate(kernel)(zeros, nl.log))
        self.assertTrue(np.isneginf(result).all())

    def test_limit(self):
        def kernel():
            while True:
                tile((4, 4))
        with refused(self, "limit", "the most allowed"):
            self.with_variable("NKI_MAX_INSTRUCTIONS", "100", nki.simulate(kernel))
        with refused(self, "argument", "expected a natural number"):
            self.with_variable("NKI_MAX_INSTRUCTIONS", "many", nki.simulate(kernel))

    def test_chip(self):
        def kernel():
            return nisa.get_nc_version()
        self.assertEqual(nki.simulate(kernel)(), nisa.nc_version.gen3)
        self.assertEqual(self.with_variable("NEURON_PLATFORM_TARGET_OVERRIDE", "trn3", nki.simulate(kernel)),
                         nisa.nc_version.gen4)


class Debugging(unittest.TestCase):
    def test_breakpoint(self):
        def kernel(a):
            loaded = on_chip(a)
            breakpoint()
            return out(loaded)

        stdin, stdout = sys.stdin, sys.stdout
        sys.stdin, sys.stdout = io.StringIO("p loaded.shape\nn\ncontinue\n"), io.StringIO()
        try:
            nki.simulate(kernel)(A)
            printed = sys.stdout.getvalue()
        finally:
            sys.stdin, sys.stdout = stdin, stdout
        self.assertIn("(128, 64)", printed)

    def test_print(self):
        def kernel(a):
            return repr(on_chip(a)), str(a.dtype), f"{a.dtype}"
        self.assertEqual(nki.simulate(kernel)(A), ("<sbuf tensor (128, 64) float32>", "float32", "float32"))


class TwoCores(unittest.TestCase):
    def test_each_does_its_half(self):
        def kernel(a):
            rank = nl.program_id(0)
            result = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
            half = slice(64 * rank, 64 * rank + 64)
            loaded = on_chip(a[half])
            nisa.tensor_scalar(dst=loaded, data=loaded, op0=nl.add, operand0=float(rank))
            nisa.dma_copy(dst=result[half], src=loaded)
            nisa.core_barrier(data=result, cores=(0, 1))
            other = on_chip(result[64 - 64 * rank:128 - 64 * rank])
            return result, out(other) if rank == 0 else out(loaded)

        result, other = nki.simulate(kernel)[2](A)
        expected = A + np.repeat([0, 1], 64)[:, None]
        np.testing.assert_array_equal(result, expected)
        np.testing.assert_array_equal(other, expected[64:])

    def test_each_writes_its_half_of_an_argument(self):
        def kernel(a, result):
            half = slice(64 * nl.program_id(0), 64 * nl.program_id(0) + 64)
            nisa.dma_copy(dst=result[half], src=on_chip(a[half]))
            return result

        result = np.zeros_like(A)
        np.testing.assert_array_equal(nki.simulate(kernel)[2](A, result), A)
        np.testing.assert_array_equal(result, A)

    def test_exchange(self):
        def kernel():
            rank = nl.program_id()
            mine, theirs = tile((32, 4), value=rank + 1), nl.ndarray((32, 4), dtype=nl.float32, buffer=nl.sbuf)
            nisa.sendrecv(src=mine, dst=theirs, send_to_rank=1 - rank, recv_from_rank=1 - rank, pipe_id=0)
            results = nl.ndarray((2, 32, 4), dtype=nl.float32, buffer=nl.shared_hbm)
            nisa.dma_copy(dst=results[rank], src=theirs)
            return results

        np.testing.assert_array_equal(nki.simulate(kernel)[2]()[:, 0, 0], [2, 1])

    def test_turns_are_the_same_every_time(self):
        def kernel(log):
            for step in range(3):
                log.append((nl.program_id(), step))
                tile((32, 4))
                nisa.core_barrier(data=hbm((4, 4)), cores=(0, 1))

        logs = [[] for _ in range(20)]
        for log in logs:
            nki.simulate(kernel)[2](log)
        self.assertEqual(len(logs[0]), 6)
        self.assertEqual(len(set(map(tuple, logs))), 1)

    def test_waiting_for_ever(self):
        def kernel():
            if nl.program_id() == 0:
                nisa.core_barrier(data=hbm((4, 4)), cores=(0, 1))
        with refused(self, "deadlock", "core 0 waits for core 1, which has ended"):
            nki.simulate(kernel)[2]()

    def test_an_error_ends_both(self):
        def kernel():
            if nl.program_id() == 1:
                raise KeyError("on core 1")
            while True:
                nisa.core_barrier(data=hbm((4, 4)), cores=(0, 1))
        with self.assertRaisesRegex(KeyError, "on core 1"):
            nki.simulate(kernel)[2]()

    def test_arguments_written_to_by_the_second(self):
        def kernel(a):
            if nl.program_id() == 1:
                nisa.dma_copy(dst=a, src=tile((128, 64), value=5))

        given = A.copy()
        nki.simulate(kernel)[2](given)
        np.testing.assert_array_equal(given, 5)


class Torch(unittest.TestCase):
    """A stand-in for PyTorch where that is not installed is no test of it."""

    def setUp(self):
        try:
            import torch
        except ImportError:
            self.skipTest("PyTorch is not installed")
        self.torch = torch

    def test_tensors_in_and_out(self):
        for dtype in (self.torch.float32, self.torch.bfloat16, self.torch.int32):
            given = self.torch.arange(128 * 8).reshape(128, 8).to(dtype)
            result = copy(given)
            self.assertIs(result.dtype, dtype)
            self.assertTrue(self.torch.equal(result, given))


if __name__ == "__main__":
    warnings.simplefilter("error", DeprecationWarning)
    unittest.main()
