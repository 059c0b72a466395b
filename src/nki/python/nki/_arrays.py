"""Host arrays: NumPy's, PyTorch's and our own, to bytes and back. Knows NumPy and PyTorch only when they are there."""
import os
import sys

from nki import _core


class HostView:
    """Shape and element type of a host array, and its bytes on demand."""

    def __init__(self, shape, dtype, data):
        self.shape = tuple(shape) or (1,)
        self.dtype = dtype
        self.data = data


def describe(value, name="array"):
    """The HostView of the array that is argument `name`; None for what is no array."""
    if isinstance(value, type):
        return None
    if isinstance(value, _core.HostArray):
        return HostView(value.shape, value.dtype, lambda: value if value.has_values else None)
    if _is_torch(value):
        return HostView(value.shape, _dtype(value, name), lambda: _torch_bytes(value))
    if hasattr(value, "__array_interface__") and hasattr(value, "dtype") and getattr(value, "shape", ()) != ():
        return HostView(value.shape, _dtype(value, name), lambda: _numpy_bytes(value))
    return None


def _dtype(value, name):
    try:
        return _core.dtype(value.dtype)
    except _core.NkiError:
        _core.raise_error("dtype", f"{name}: an array of {value.dtype}, which the chip does not have; convert it: "
                                   f"{name}.astype(np.float32)")


def values(tensor):
    """The values of a tensor at this point of the kernel, as a NumPy array; None without values."""
    return to_numpy(_core.fetch(tensor)[0])


def constant(value, name="constant"):
    """An array, or the path of a .npy file, as a new tensor in shared HBM."""
    if isinstance(value, (str, os.PathLike)):
        import numpy
        value = numpy.load(value)
    host = describe(value, name)
    if host is None:
        _core.raise_error("argument", f"{name}: {type(value).__name__} given; expected a NumPy array or the path of "
                                      "a .npy file")
    return _core.input(host.shape, host.dtype, host.data() if _core.has_values() else None, name)


def give(array, like):
    """A HostArray as the kind of array that the kernel was given."""
    if isinstance(like, _core.HostArray):
        return array
    if like is not None and _is_torch(like):
        return _to_torch(array, like)
    return to_numpy(array)


def write_back(value, array):
    """What a kernel wrote into an argument."""
    if isinstance(value, _core.HostArray):
        return
    if _is_torch(value):
        value.copy_(_to_torch(array, value))
    elif value.flags.writeable:
        value[...] = to_numpy(array)


def to_numpy(array):
    """A HostArray as a NumPy array on the same memory; of a shape-only one, None."""
    import numpy
    if not array.has_values:
        return None
    return numpy.frombuffer(array, dtype=numpy_dtype(array.dtype)).reshape(array.shape)


def numpy_dtype(dtype):
    """NumPy's type for one of ours: bfloat16 and fp8 by nki.dtype, packed kinds as unsigned integers."""
    from nki import dtype as dtypes
    return dtypes.to_numpy(dtype)


def _numpy_bytes(value):
    import numpy
    return numpy.ascontiguousarray(value).view(numpy.uint8).reshape(-1).data


def _is_torch(value):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _torch_bytes(value):
    import torch
    return value.detach().cpu().contiguous().view(torch.uint8).numpy().reshape(-1).data


def _to_torch(array, like):
    import torch
    name = {"float8_e4m3": "float8_e4m3fn"}.get(array.dtype.name, array.dtype.name)
    data = torch.frombuffer(array, dtype=getattr(torch, name))
    return data.reshape(array.shape).to(like.device)
