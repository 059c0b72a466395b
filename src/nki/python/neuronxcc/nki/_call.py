"""From a call of the older generation to an instruction: operands, masks, element types, the result."""
import numbers

from nki import _core
from nki.language import _types
from nki.language.memory import MemoryRegion
from neuronxcc.nki._blocks import Blocks
from neuronxcc.nki._errors import describe, error, refusal
from neuronxcc.nki._mask import Mask
from neuronxcc.nki._pending import defer, flush, state
from neuronxcc.nki._tensor import Result, Tensor

sbuf, psum = MemoryRegion.sbuf, MemoryRegion.psum
_dtypes = {}


def dtype_of(dtype):
    """An element type by any of its names: ours, NumPy's, a string."""
    try:
        return _dtypes[dtype]
    except (KeyError, TypeError):
        found = _core.dtype(dtype)
        try:
            _dtypes[dtype] = found
        except TypeError:
            pass
        return found


def inside_kernel(name):
    """Refuses calls outside of kernels."""
    if not _core.running():
        raise refusal("err_nki_api_outside_of_nki_kernel", f"{name} called outside of a kernel; expected within a function "
                      "under @nki.jit or one that such a function calls")


def in_allocated_kernel():
    """Whether the kernel has placed tiles itself so far."""
    return state.run is not None and state.run.allocates


def tensor(name, argument, value):
    """`value`, which must be a tensor."""
    if not isinstance(value, Tensor):
        inside_kernel(name)
        if isinstance(value, Blocks):
            raise refusal("err_failed_to_infer_tile_from_local_tensor", f"{name}: {argument} is {value!r}, which is many "
                          "tiles; index its dimensions before the partition dimension")
        raise error("argument", f"{name}: {argument} is {describe(value)}; expected a tile")
    return value


def box_of(mask, shape):
    """What a mask leaves of a tile: a box, None for all of it, False for nothing."""
    if mask is None or mask is True:
        return None
    if not isinstance(mask, Mask):
        if isinstance(mask, numbers.Integral) or type(mask).__name__ == "bool_":
            return None if mask else False
        raise refusal("err_unsupported_expression_in_mask", f"mask is {describe(mask)}; expected comparisons of index "
                      "expressions joined by &")
    box = mask.box(shape)
    if box is None:
        return False
    if all(begin == 0 and end == size for (begin, end), size in zip(box, shape)):
        return None
    for (begin, end), size in zip(box, shape):
        if size == 1 and (begin > 0 or end < 1):
            return False
    return box


def within(box, shape):
    """The box as an operand of another shape sees it: dimensions of size 1 are whole; None for all of it."""
    if box is None:
        return None
    missing = len(box) - len(shape)
    if missing > 0:
        box = box[missing:] if shape[:1] != (box[0][1],) else box[:len(shape)]
    elif missing < 0:
        box = list(box) + [(0, size) for size in shape[len(box):]]
    return [(0, 1) if size == 1 else (begin, min(end, size)) for (begin, end), size in zip(box, shape)]


def operand(name, argument, value, box=None):
    """A tile as an instruction reads it, or a number."""
    if isinstance(value, Tensor):
        return value.read(within(box, value.shape))
    if value is None or isinstance(value, numbers.Number):
        return value
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        return value.item()
    raise error("argument", f"{name}: {argument} is {describe(value)}; expected a tile or a number")


def promoted(*values):
    """The element type of an operation on tiles and numbers."""
    dtype = None
    for value in values:
        if isinstance(value, Tensor):
            dtype = value.dtype if dtype is None else _types.promote(dtype, value.dtype)
    for value in values:
        if isinstance(value, float) and dtype is not None:
            dtype = _types.promote_scalar(dtype, value)
    return dtype


def give(shape, dtype, issue, box=None, memory=sbuf, explicit=None, product=None):
    """The result of a call: issued when it is assigned, or into a tile of its own."""
    if box is False:
        issue, box, product = None, None, None
    if explicit is not None:
        dtype = dtype_of(explicit)
        if dtype == "bfloat16" and state.run is not None and state.run.keeps_float32:
            dtype, explicit = dtype_of("float32"), None
    return defer(Result(shape, dtype, memory, issue, box, product, explicit is not None))


def statement(issue, box=None):
    """Issues an instruction that returns nothing."""
    flush()
    if box is not False:
        issue()


__all__ = ["box_of", "dtype_of", "flush", "give", "inside_kernel", "operand", "promoted", "psum", "sbuf", "state", "statement",
           "tensor", "within"]
