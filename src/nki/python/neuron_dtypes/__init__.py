"""neuron_dtypes: the chip's element types for NumPy, and casts between them, as libraries' tests use them."""
import numpy as _numpy

from nki import dtype as _dtype

bfloat16 = _dtype.to_numpy("bfloat16").type
float8_e4m3 = _dtype.to_numpy("float8_e4m3").type
float8_e4m3fn = _dtype.to_numpy("float8_e4m3fn").type
float8_e5m2 = _dtype.to_numpy("float8_e5m2").type
float8_e8m0fnu = _dtype.to_numpy("float8_e8m0fnu").type
float8_e4m3fn_x4 = _dtype.float8_e4m3fn_x4
float8_e5m2_x4 = _dtype.float8_e5m2_x4
float4_e2m1fn_x4 = _dtype.float4_e2m1fn_x4


def static_cast(array, dtype):
    """The array in another element type, given as NumPy's, as nki's or by name; rounds to nearest even."""
    return _numpy.asarray(array).astype(_numpy_dtype(dtype))


def sizeinbytes(dtype):
    """Of one element."""
    return _dtype.DType(dtype).itemsize if _known(dtype) else _numpy.dtype(dtype).itemsize


def is_float_type(dtype):
    """Whether an element is a floating-point number, of whatever size."""
    name = _dtype.DType(dtype).name if _known(dtype) else _numpy.dtype(dtype).name
    return "float" in name


def finfo(dtype):
    """Limits of a floating-point type: .max, .min, .bits."""
    name = _numpy_dtype(dtype).name
    return _numpy.finfo(name) if name in ("float16", "float32", "float64") else _Limits(name)


class _Limits:
    """Found by trying every value of a type of one or two bytes."""

    def __init__(self, name):
        kind = _dtype.to_numpy(name)
        self.bits = 8 * kind.itemsize
        pattern = _numpy.arange(1 << self.bits).astype(f"u{kind.itemsize}")
        values = pattern.view(kind).astype(_numpy.float64)
        finite = values[_numpy.isfinite(values)]
        self.max, self.min = float(finite.max()), float(finite.min())
        self.smallest_subnormal = self.tiny = float(finite[finite > 0].min())


def _known(dtype):
    try:
        _dtype.DType(dtype)
    except Exception:  # a type that the chip does not have: NumPy's business
        return False
    return True


def _numpy_dtype(dtype):
    return _dtype.to_numpy(dtype) if _known(dtype) else _numpy.dtype(dtype)
