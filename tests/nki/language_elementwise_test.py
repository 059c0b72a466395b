"""nki.language's functions of elements against NumPy: arithmetic, comparisons, bits, activations."""
import math
import unittest

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np

from tiles import platform, refused, run

RANDOM = np.random.RandomState(5)
X = RANDOM.uniform(-4, 4, (16, 40)).astype(np.float32)
Y = RANDOM.uniform(0.5, 4, (16, 40)).astype(np.float32)
I = RANDOM.randint(-1000, 1000, (16, 40)).astype(np.int32)
J = RANDOM.randint(-1000, 1000, (16, 40)).astype(np.int32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def erf(x):
    return np.vectorize(math.erf)(x)


def derivative(function, x):
    """By central differences in float64."""
    step = 1e-5
    x = x.astype(float)
    return (function(x + step) - function(x - step)) / (2 * step)


def gelu(x):
    return x * 0.5 * (1 + erf(x / math.sqrt(2)))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


def gelu_sigmoid(x):
    return x * sigmoid(1.702 * x)


def silu(x):
    return x * sigmoid(x)


class TwoOperands(unittest.TestCase):
    ARITHMETIC = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply,
                  "maximum": np.maximum, "minimum": np.minimum}
    COMPARISONS = {"equal": np.equal, "not_equal": np.not_equal, "less": np.less,
                   "less_equal": np.less_equal, "greater": np.greater,
                   "greater_equal": np.greater_equal}
    BITS = {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or,
            "bitwise_xor": np.bitwise_xor}

    def test_tiles(self):
        for name, function in (self.ARITHMETIC | self.COMPARISONS).items():
            got = run(getattr(nl, name), X, np.where(X > 0, X, Y))
            np.testing.assert_array_equal(got, function(X, np.where(X > 0, X, Y)), name)
            self.assertEqual(got.dtype, np.float32)

    def test_a_tile_and_a_number(self):
        for name, function in (self.ARITHMETIC | self.COMPARISONS).items():
            operation = getattr(nl, name)
            left, right = run(lambda x: (operation(x, 2.5), operation(2.5, x)), X)
            np.testing.assert_array_equal(left, function(X, np.float32(2.5)), name)
            np.testing.assert_array_equal(right, function(np.float32(2.5), X), name)

    def test_int32_is_exact(self):
        large = I * 1_000_003
        np.testing.assert_array_equal(run(nl.add, large, J), large + J)
        np.testing.assert_array_equal(run(nl.subtract, large, J), large - J)

    def test_bits(self):
        for name, function in self.BITS.items():
            operation = getattr(nl, name)
            tiles, number = run(lambda x, y: (operation(x, y), operation(x, 12)), I, J)
            np.testing.assert_array_equal(tiles, function(I, J), name)
            np.testing.assert_array_equal(number, function(I, 12), name)

    def test_shifts(self):
        bits = I.view(np.uint32)
        places = np.abs(J % 32).astype(np.uint32)
        np.testing.assert_array_equal(run(nl.left_shift, bits, places), bits << places)
        np.testing.assert_array_equal(run(nl.right_shift, bits, places), bits >> places)
        np.testing.assert_array_equal(run(lambda x: nl.right_shift(x, 4), bits), bits >> 4)

    def test_invert(self):
        for dtype in (np.int32, np.uint32, np.int16, np.uint8):
            np.testing.assert_array_equal(run(nl.invert, I.astype(dtype)), ~I.astype(dtype))

    def test_logic(self):
        a, b = (X > 0).astype(np.float32), (Y > 2).astype(np.float32)
        for name, function in {"logical_and": np.logical_and, "logical_or": np.logical_or,
                               "logical_xor": np.logical_xor}.items():
            np.testing.assert_array_equal(run(getattr(nl, name), a, b), function(a, b), name)
        np.testing.assert_array_equal(run(nl.logical_not, a), 1 - a)

    def test_power(self):
        np.testing.assert_allclose(run(nl.power, Y, X), Y ** X, rtol=1e-5)
        np.testing.assert_allclose(run(lambda y: nl.power(y, 3.0), Y), Y ** 3, rtol=1e-5)
        np.testing.assert_allclose(run(lambda y: nl.power(2.0, y), Y), 2 ** Y, rtol=1e-5)

    def test_divide(self):
        np.testing.assert_allclose(run(nl.divide, X, Y), X / Y, rtol=3e-7)
        np.testing.assert_allclose(run(lambda x: nl.divide(x, 4.0), X), X / 4)
        np.testing.assert_allclose(run(lambda y: nl.divide(1.0, y), Y), 1 / Y, rtol=3e-7)

    def test_remainders(self):
        np.testing.assert_allclose(run(nl.fmod, X, Y), np.fmod(X, Y), atol=2e-6)
        np.testing.assert_allclose(run(nl.mod, X, Y), np.mod(X, Y), atol=2e-6)

    def test_magnitudes_on_the_third_generation(self):
        with platform("trn3"):
            np.testing.assert_array_equal(run(nl.abs_max, X, Y), np.where(abs(X) > abs(Y), X, Y))
            np.testing.assert_array_equal(run(nl.abs_min, X, Y), np.where(abs(X) < abs(Y), X, Y))
            np.testing.assert_array_equal(run(nl.abs_max, X, -X), -X)  # a tie gives y
        with refused(self, "generation", "abs_max"):
            run(nl.abs_max, X, Y)

    def test_both_in_psum(self):
        def body(x, y):
            a, b = (nl.ndarray(x.shape, nl.float32, buffer=nl.psum) for _ in range(2))
            nisa.tensor_copy(dst=a, src=x)
            nisa.tensor_copy(dst=b, src=y)
            return nl.add(a, b)
        np.testing.assert_array_equal(run(body, X, Y), X + Y)

    def test_a_comparison_asks_about_all_elements(self):
        def body(x):
            self.assertTrue(nl.equal(x, x))
            self.assertFalse(nl.less(x, 0.0))
            self.assertTrue(nl.less(x, 100.0))
            return x
        run(body, X)


class Broadcasting(unittest.TestCase):
    def test_a_column(self):
        column = Y[:, :1].copy()
        np.testing.assert_array_equal(run(nl.subtract, X, column), X - column)
        np.testing.assert_array_equal(run(nl.subtract, column, X), column - X)

    def test_a_column_of_integers(self):
        column = J[:, :1].copy()
        np.testing.assert_array_equal(run(nl.add, I, column), I + column)

    def test_a_row_goes_to_all_partitions(self):
        row = Y[:1].copy()
        np.testing.assert_array_equal(run(nl.multiply, X, row), X * row)

    def test_inner_dimensions(self):
        a, b = X.reshape(16, 4, 10), Y[:, :10].reshape(16, 1, 10).copy()
        np.testing.assert_array_equal(run(nl.add, a, b), a + b)

    def test_refusals(self):
        with refused(self, "shape", "expected equal sizes, or 1"):
            run(nl.add, X, X[:, :20].copy())
        with refused(self, "shape", "as many dimensions"):
            run(nl.add, X.reshape(16, 4, 10), X)


class Types(unittest.TestCase):
    def test_promotion(self):
        cases = [("float32", "bfloat16", "float32"), ("float16", "bfloat16", "float32"),
                 ("float8_e4m3", "bfloat16", "bfloat16"), ("float8_e4m3", "float8_e5m2", "bfloat16"),
                 ("int32", "float16", "float16"), ("int8", "uint8", "int16"),
                 ("uint16", "int32", "int32"), ("int32", "uint32", "float32"),
                 ("uint8", "uint16", "uint16"), ("bfloat16", "bfloat16", "bfloat16")]
        for a, b, expected in cases:
            got = run(nl.add, np.ones((2, 2), a), np.ones((2, 2), b))
            self.assertEqual(got.dtype, np.dtype(expected), (a, b))
            self.assertEqual(got.astype(float).tolist(), [[2, 2], [2, 2]])

    def test_numbers_are_weak(self):
        self.assertEqual(run(lambda x: nl.add(x, 1), X.astype("bfloat16")).dtype, "bfloat16")
        self.assertEqual(run(lambda x: nl.add(x, 1), I).dtype, np.int32)
        self.assertEqual(run(lambda x: nl.multiply(x, 0.5), I).dtype, np.float32)

    def test_dtype_says_otherwise(self):
        got = run(lambda x, y: nl.add(x, y, dtype=nl.bfloat16), X, Y)
        np.testing.assert_array_equal(got, (X + Y).astype("bfloat16"))
        flags = run(lambda x, y: nl.less(x, y, dtype=nl.uint8), X, Y)
        np.testing.assert_array_equal(flags, (X < Y).astype(np.uint8))
        np.testing.assert_array_equal(run(lambda x: nl.abs(x, dtype=np.float16), X),
                                      np.abs(X).astype(np.float16))

    def test_refusals(self):
        with refused(self, "argument", "a tile or a number"):
            run(lambda x: nl.add(x, "one"), X)
        with refused(self, "argument", "a tile for one of them"):
            run(lambda x: nl.add(1, 2), X)
        with refused(self, "dtype", "bits are of integer types"):
            run(nl.bitwise_and, X, X)
        with refused(self, "memory", "nl.load first"):
            nki.simulate(lambda x: nl.add(x, 1.0))(X)
        with refused(self, "dtype", "no such type|not an element type"):
            run(lambda x: nl.add(x, x, dtype="float12"), X)


class OneOperand(unittest.TestCase):
    FUNCTIONS = {
        "exp": np.exp, "tanh": np.tanh, "sigmoid": sigmoid, "relu": lambda x: np.maximum(x, 0),
        "square": np.square, "abs": np.abs, "sign": np.sign, "negative": np.negative,
        "gelu": gelu, "gelu_apprx_tanh": gelu_tanh, "gelu_apprx_sigmoid": gelu_sigmoid, "silu": silu,
        "softplus": lambda x: np.log1p(np.exp(x)), "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
        "erf": erf, "sin": np.sin, "cos": np.cos}
    OF_POSITIVE = {"log": np.log, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
                   "reciprocal": lambda x: 1 / x}
    DERIVATIVES = {"gelu_dx": gelu, "gelu_apprx_tanh_dx": gelu_tanh,
                   "gelu_apprx_sigmoid_dx": gelu_sigmoid, "silu_dx": silu, "erf_dx": erf}

    def check(self, name, x, expected):
        np.testing.assert_allclose(run(getattr(nl, name), x), expected, rtol=2e-6, atol=2e-6,
                                   err_msg=name)

    def test_functions(self):
        for name, function in self.FUNCTIONS.items():
            self.check(name, X, function(X.astype(float)))
        for name, function in self.OF_POSITIVE.items():
            self.check(name, Y, function(Y.astype(float)))
        self.check("arctan", X / 4, np.arctan(X / 4))
        self.check("tan", X / 3, np.tan(X.astype(float) / 3))

    def test_derivatives(self):
        for name, function in self.DERIVATIVES.items():
            np.testing.assert_allclose(run(getattr(nl, name), X), derivative(function, X), rtol=1e-5,
                                       atol=1e-5, err_msg=name)

    def test_rounding(self):
        x = np.array([[0, -0.0, 0.3, -0.3, 0.5, -0.5, 1.5, 2.5, -2.5, 3.2, -3.7, 7, -7, 1e-10, -1e-10,
                       8388607.5, -8388607.5, 3e9, -3e9, np.inf, -np.inf]], np.float32)
        np.testing.assert_array_equal(run(nl.floor, x), np.floor(x))
        np.testing.assert_array_equal(run(nl.ceil, x), np.ceil(x))
        np.testing.assert_array_equal(run(nl.trunc, x), np.trunc(x))

    def test_angles_of_many_turns(self):
        angles = np.linspace(-3000, 3000, 1001, dtype=np.float32).reshape(7, 143)
        np.testing.assert_allclose(run(nl.sin, angles), np.sin(angles.astype(float)), atol=2e-6)
        np.testing.assert_allclose(run(nl.cos, angles), np.cos(angles.astype(float)), atol=2e-6)

    def test_exact_places(self):
        zero = np.zeros((2, 2), np.float32)
        for name, expected in (("sin", 0), ("cos", 1), ("tan", 0), ("exp", 1), ("arctan", 0)):
            np.testing.assert_allclose(run(getattr(nl, name), zero), np.full((2, 2), expected), rtol=1.2e-7, atol=0,
                                          err_msg=name)

    def test_refusals(self):
        with refused(self, "argument", "expected a tile"):
            run(lambda x: nl.exp(1.0), X)
        with refused(self, "memory", "in PSUM"):
            run(lambda x: nl.rsqrt(nl.transpose(x)), X)
        for marker in (nl.bypass, nl.average, nl.prelu):
            with refused(self, "argument", "names an operation"):
                run(lambda x: marker(x), X)


class Operations(unittest.TestCase):
    """Functions as what `op=` takes."""

    def test_vector_operations(self):
        def body(x, y):
            results = []
            for op in (nl.add, nl.multiply, nl.max, np.subtract, nl.less):
                results.append(nl.ndarray(x.shape, nl.float32))
                nisa.tensor_tensor(dst=results[-1], data1=x, data2=y, op=op)
            return tuple(results)
        for got, function in zip(run(body, X, Y), (np.add, np.multiply, np.maximum, np.subtract,
                                                   np.less)):
            np.testing.assert_array_equal(got, function(X, Y))

    def test_scalar_functions(self):
        def body(x):
            result = nl.ndarray(x.shape, nl.float32)
            nisa.activation(dst=result, op=nl.copy, data=x, scale=2.0)
            return result
        np.testing.assert_array_equal(run(body, X), X * 2)

    def test_limits_of_float32(self):
        self.assertEqual(nl.fp32.max, np.finfo(np.float32).max)
        self.assertEqual(nl.fp32.min, np.finfo(np.float32).min)


if __name__ == "__main__":
    unittest.main()
