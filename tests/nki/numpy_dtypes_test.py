"""bfloat16 and the float8 kinds as NumPy dtypes: every bit pattern, rounding, casts, arithmetic."""
import io
import pickle
import unittest
import warnings

import numpy as np
from nki import _numpy_dtypes

NAMES = ("bfloat16", "float8_e4m3", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu")
FLOAT8 = {  # name: (exponent bits, mantissa bits, infinities)
    "float8_e4m3": (4, 3, True), "float8_e4m3fn": (4, 3, False), "float8_e5m2": (5, 2, True)}


def bits_type(name):
    return np.dtype(f"u{np.dtype(name).itemsize}")


def every_value(name):
    """All bit patterns of a type, as an array of it."""
    kind = bits_type(name)
    return np.arange(256 ** kind.itemsize).astype(kind).view(name)


def decoded(name):
    """What the bit patterns mean, worked out here in float64."""
    bits = np.arange(256 ** np.dtype(name).itemsize)
    if name == "bfloat16":
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(float)
    if name == "float8_e8m0fnu":
        return np.where(bits == 255, np.nan, np.exp2(bits - 127.0))
    exponent_bits, mantissa_bits, infinities = FLOAT8[name]
    mantissa = bits & (2 ** mantissa_bits - 1)
    exponent = (bits >> mantissa_bits) & (2 ** exponent_bits - 1)
    bias, top = 2 ** (exponent_bits - 1) - 1, 2 ** exponent_bits - 1
    value = np.where(exponent == 0, mantissa * 2.0 ** (1 - bias - mantissa_bits),
                     (1 + mantissa / 2 ** mantissa_bits) * np.exp2(exponent - float(bias)))
    if infinities:
        value = np.where(exponent == top, np.where(mantissa == 0, np.inf, np.nan), value)
    else:
        value = np.where((exponent == top) & (mantissa == 2 ** mantissa_bits - 1), np.nan, value)
    return np.where(bits >= 128, -value, value)


def nearest_even(values, name):
    """Rounding by looking for the neighbours."""
    table = decoded(name)
    order = np.flatnonzero(np.isfinite(table))
    order = order[np.argsort(table[order], kind="stable")]
    order = order[np.concatenate([[True], np.diff(table[order]) > 0])]  # one zero
    above = np.clip(np.searchsorted(table[order], values), 1, len(order) - 1)
    low, high = order[above - 1], order[above]
    down, up = values - table[low], table[high] - values
    pick_high = (up < down) | ((up == down) & (high % 2 == 0))
    return table[np.where(pick_high, high, low)]


class Values(unittest.TestCase):
    def setUp(self):
        # Signalling NaNs are among the patterns.
        warnings.simplefilter("ignore", RuntimeWarning)

    def test_every_pattern_decodes(self):
        for name in NAMES:
            for wide in (np.float32, np.float64):
                np.testing.assert_array_equal(every_value(name).astype(wide),
                                              decoded(name).astype(wide), name)

    def test_every_number_survives_the_way_there_and_back(self):
        for name in NAMES:
            values = every_value(name)
            numbers = ~np.isnan(decoded(name))
            back = values.astype(np.float32).astype(name).view(bits_type(name))
            np.testing.assert_array_equal(back[numbers], values.view(bits_type(name))[numbers])

    def test_float64_rounds_once_to_nearest_even(self):
        random = np.random.RandomState(1)
        for name in NAMES:
            finite = decoded(name)[np.isfinite(decoded(name))]
            magnitude = np.exp2(random.uniform(np.log2(np.abs(finite[finite != 0]).min()) - 2,
                                               np.log2(finite.max()), 20000))
            ties = (np.sort(finite)[1:] + np.sort(finite)[:-1]) / 2
            values = np.concatenate([magnitude, -magnitude, ties, np.nextafter(ties, np.inf),
                                     np.nextafter(ties, -np.inf)])
            values = values[(values >= finite.min()) & (values <= finite.max())]
            np.testing.assert_array_equal(values.astype(name).astype(float),
                                          nearest_even(values, name), name)

    def test_beyond_the_largest(self):
        self.assertEqual(_numpy_dtypes.float8_e4m3(1000), np.inf)
        self.assertTrue(np.isnan(float(_numpy_dtypes.float8_e4m3fn(1000))))
        self.assertEqual(_numpy_dtypes.float8_e5m2(-1e9), -np.inf)
        self.assertEqual(_numpy_dtypes.float8_e4m3(240), 240)
        self.assertEqual(_numpy_dtypes.float8_e4m3fn(448), 448)

    def test_large_integers_round_once(self):
        # 2**54 + 2**46 + 1 is above the middle of two bfloat16 values, in float64 it is the middle.
        value = np.array([2 ** 54 + 2 ** 46 + 1, -(2 ** 54 + 2 ** 46 + 1)], np.int64)
        self.assertEqual(value.astype("bfloat16").astype(float).tolist(),
                         [2.0 ** 54 + 2.0 ** 47, -(2.0 ** 54 + 2.0 ** 47)])


class Casts(unittest.TestCase):
    def test_builtin_types_both_ways(self):
        for name in NAMES:
            for letter in "bBhHiIlLqQefdg?":
                small = np.array([1, 2, 4, 1]).astype(letter)
                there = small.astype(name)
                self.assertEqual(there.dtype, np.dtype(name))
                np.testing.assert_array_equal(there.astype(letter), small)

    def test_complex(self):
        there = np.array([1 + 0j, 2 + 0j]).astype(np.complex64).real.astype("bfloat16")
        np.testing.assert_array_equal(there.astype(np.complex128), [1, 2])

    def test_to_integers_toward_zero_and_within_range(self):
        values = np.array([-1.5, 2.75, 300.0, np.nan, np.inf], "bfloat16")
        self.assertEqual(values.astype(np.int8).tolist(), [-1, 2, 127, 0, 127])
        self.assertEqual(values.astype(np.uint8).tolist(), [0, 2, 255, 0, 255])

    def test_among_each_other(self):
        for source in NAMES:
            for target in NAMES:
                direct = every_value(source)[:100].astype(target)
                by_way_of_float = every_value(source)[:100].astype(np.float32).astype(target)
                np.testing.assert_array_equal(direct.view(bits_type(target)),
                                              by_way_of_float.view(bits_type(target)))

    def test_what_numpy_may_do_by_itself(self):
        self.assertTrue(np.can_cast("bfloat16", "float32"))
        self.assertFalse(np.can_cast("bfloat16", "float16"))
        self.assertFalse(np.can_cast("float32", "bfloat16"))
        self.assertTrue(np.can_cast("float8_e5m2", "bfloat16"))
        self.assertEqual(np.promote_types("bfloat16", "float32"), np.float32)
        mixed = np.ones(2, "bfloat16") + np.ones(2, np.float32)
        self.assertEqual(mixed.dtype, np.float32)
        self.assertEqual((np.ones(2, "bfloat16") + 1).dtype, np.dtype("bfloat16"))


class Arithmetic(unittest.TestCase):
    def check(self, function, *arrays):
        """As float32 does it, rounded."""
        got = function(*arrays)
        exact = function(*[a.astype(np.float32) for a in arrays])
        expected = exact.astype(arrays[0].dtype)
        np.testing.assert_array_equal(got.astype(np.float32), expected.astype(np.float32))
        self.assertEqual(got.dtype, arrays[0].dtype)

    def test_two_operands(self):
        random = np.random.RandomState(2)
        for name in NAMES[:4]:
            a = random.uniform(0.5, 4, (3, 40)).astype(name)
            b = random.uniform(0.5, 4, (3, 40)).astype(name)
            for function in (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum,
                             np.floor_divide, np.fmod, np.copysign):
                self.check(function, a[:, ::2], b[:, ::2])

    def test_one_operand(self):
        a = np.random.RandomState(3).uniform(-2, 2, 100).astype("bfloat16")
        for function in (np.negative, np.absolute, np.square, np.floor, np.ceil, np.trunc, np.rint,
                         np.sign):
            self.check(function, a)
        for function in (np.exp, np.sqrt, np.tanh, np.log1p, np.sin):
            np.testing.assert_allclose(function(np.abs(a)).astype(np.float32),
                                       function(np.abs(a.astype(np.float32))), rtol=2 ** -8)

    def test_comparisons(self):
        a = np.array([1, 2, np.nan, -0.0], "bfloat16")
        b = np.array([2, 2, np.nan, 0.0], "bfloat16")
        self.assertEqual((a == b).tolist(), [False, True, False, True])
        self.assertEqual((a < b).tolist(), [True, False, False, False])
        self.assertEqual((a != b).tolist(), [True, False, True, False])
        self.assertEqual(np.isnan(a).tolist(), [False, False, True, False])
        self.assertEqual(np.isfinite(np.array([np.inf, 1], "float8_e5m2")).tolist(), [False, True])

    def test_a_long_sum_does_not_stop_at_256(self):
        self.assertEqual(np.ones(4096, "bfloat16").sum(), 4096)
        self.assertEqual(np.ones((4096, 2), "bfloat16").mean(axis=1).max(), 1)

    def test_matrix_product(self):
        random = np.random.RandomState(4)
        a = random.rand(2, 7, 33).astype("bfloat16")
        b = random.rand(2, 33, 5).astype("bfloat16")
        exact = a.astype(np.float32) @ b.astype(np.float32)
        self.assertEqual((a @ b).dtype, np.dtype("bfloat16"))
        np.testing.assert_allclose((a @ b).astype(np.float32), exact, rtol=2 ** -8)
        turned = (b.transpose(0, 2, 1) @ a.transpose(0, 2, 1)).transpose(0, 2, 1)
        np.testing.assert_allclose(turned.astype(np.float32), exact, rtol=2 ** -8)
        np.testing.assert_allclose(float(np.dot(a[0, 0], b[0, :, 0])), exact[0, 0, 0], rtol=2 ** -8)

    def test_order(self):
        a = np.array([3, np.nan, -1, 2], "bfloat16")
        self.assertEqual(a.argmax(), 1)
        self.assertEqual(a[:1].argmax(), 0)
        self.assertEqual(np.array([3, -1, 2], "bfloat16").argmin(), 1)
        np.testing.assert_array_equal(np.sort(a).astype(float), [-1, 2, 3, np.nan])


class Objects(unittest.TestCase):
    def test_scalars(self):
        value = np.array([1.5, 3.14159], "bfloat16")
        self.assertEqual(repr(value[0]), "1.5")
        self.assertEqual(str(value[1]), "3.14")
        self.assertEqual(type(value[0]), _numpy_dtypes.bfloat16)
        self.assertEqual(value[0], 1.5)
        self.assertLess(value[0], value[1])
        self.assertEqual(hash(value[0]), hash(1.5))
        self.assertEqual((float(value[0]), int(value[1]), bool(value[0])), (1.5, 3, True))
        self.assertEqual(value[0] + value[0], 3)
        self.assertEqual(_numpy_dtypes.bfloat16("0.5"), 0.5)
        self.assertEqual(repr(_numpy_dtypes.float8_e4m3(float("nan"))), "nan")

    def test_creation(self):
        self.assertEqual(np.zeros((2, 2), "bfloat16").tolist(), [[0, 0], [0, 0]])
        self.assertEqual(np.full(2, 0.25, "float8_e5m2").tolist(), [0.25, 0.25])
        self.assertEqual(np.arange(4, dtype="bfloat16").tolist(), [0, 1, 2, 3])
        self.assertEqual(_numpy_dtypes.bfloat16(np.arange(3)).dtype, np.dtype("bfloat16"))

    def test_dtypes(self):
        for name in NAMES:
            dtype = np.dtype(getattr(_numpy_dtypes, name))
            self.assertEqual((dtype.name, dtype), (name, np.dtype(name)))
            self.assertIs(pickle.loads(pickle.dumps(dtype)).type, dtype.type)
        self.assertNotEqual(np.dtype("float8_e4m3"), np.dtype("float8_e5m2"))

    def test_pickles_and_files(self):
        values = np.array([[1, 2], [3, np.inf]], "float8_e5m2")
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(values)), values)
        file = io.BytesIO()
        np.save(file, values)
        file.seek(0)
        loaded = np.load(file)  # .npy files know the size only
        np.testing.assert_array_equal(loaded.view("float8_e5m2"), values)

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, "could not convert string"):
            _numpy_dtypes.bfloat16("many")
        with self.assertRaisesRegex(TypeError, "no keyword"):
            _numpy_dtypes.bfloat16(value=1)
        with self.assertRaises(TypeError):
            np.zeros(2, "bfloat16")[0] = object()
        with self.assertRaises(OverflowError):
            int(_numpy_dtypes.bfloat16(np.inf))


if __name__ == "__main__":
    unittest.main()
