"""Element types, and what NumPy has for them.

A type is a string with an item size ("bfloat16"), equal to NumPy's dtype of the same name. For
types that NumPy lacks, arrays use ml_dtypes where it is installed, else types of our own under the
same names; an array is known by its dtype's name and size, whoever registered it.
"""
import types as _types

from nki import _core

DType = _core.dtype

try:
    import numpy as _numpy
    try:
        import ml_dtypes as _numpy_types
    except ImportError:
        from nki import _numpy_dtypes as _numpy_types
except ImportError:  # kernels run without NumPy on arrays of our own
    _numpy = _numpy_types = None

int8 = _core.DTYPES["int8"]
int16 = _core.DTYPES["int16"]
int32 = _core.DTYPES["int32"]
uint8 = _core.DTYPES["uint8"]
uint16 = _core.DTYPES["uint16"]
uint32 = _core.DTYPES["uint32"]
bool_ = _core.DTYPES["bool"]
float16 = _core.DTYPES["float16"]
float32 = _core.DTYPES["float32"]
tfloat32 = _core.DTYPES["tfloat32"]  # a float32 of which 10 mantissa bits count
bfloat16 = _core.DTYPES["bfloat16"]
float8_e4m3 = _core.DTYPES["float8_e4m3"]
float8_e4m3fn = _core.DTYPES["float8_e4m3fn"]
float8_e5m2 = _core.DTYPES["float8_e5m2"]
float8_e8m0fnu = _core.DTYPES["float8_e8m0fnu"]
float8_e4m3fn_x4 = _core.DTYPES["float8_e4m3fn_x4"]  # four in one 32-bit element
float8_e5m2_x4 = _core.DTYPES["float8_e5m2_x4"]
float4_e2m1fn_x4 = _core.DTYPES["float4_e2m1fn_x4"]  # four in one 16-bit element

# How arrays hold what NumPy has no type for.
_STORED_AS = {"tfloat32": "float32", "float8_e4m3fn_x4": "uint32", "float8_e5m2_x4": "uint32",
              "float4_e2m1fn_x4": "uint16"}


def to_numpy(dtype):
    """The NumPy dtype in which arrays hold `dtype`."""
    name = DType(dtype).name
    if _numpy is None:
        _core.raise_error("unsupported", f"{name} as a NumPy type: NumPy is not installed")
    if name in _STORED_AS:
        return _numpy.dtype(_STORED_AS[name])
    own = getattr(_numpy_types, name, None)
    if own is None and name.startswith(("float8", "bfloat")):
        from nki import _numpy_dtypes  # an ml_dtypes of before this type
        own = getattr(_numpy_dtypes, name)
    return _numpy.dtype(own if own is not None else name)


def finfo(dtype):
    """The limits of a float type: numpy.finfo, or what ml_dtypes has for the types that NumPy lacks."""
    name = DType(dtype).name
    if hasattr(_numpy_types, "finfo") and name not in ("float16", "float32"):
        return _numpy_types.finfo(to_numpy(dtype))
    if name == "bfloat16":
        largest = (2 - 2.0 ** -7) * 2.0 ** 127
        return _types.SimpleNamespace(bits=16, min=-largest, max=largest, eps=2.0 ** -7, tiny=2.0 ** -126)
    return _numpy.finfo("float32" if name == "tfloat32" else to_numpy(dtype))
