"""Instructions that make values: constants, sequences, random masks."""
import numbers

from nki import isa
from neuronxcc.nki._call import box_of, dtype_of, give, inside_kernel, operand, tensor
from neuronxcc.nki._errors import describe, error
from neuronxcc.nki._index import Index

unknown = isa.engine.unknown


def number_for(dtype, value):
    """A number as memset takes it for an element type."""
    if hasattr(value, "item"):
        value = value.item()
    if not isinstance(value, numbers.Real):
        raise error("argument", f"memset: value is {describe(value)}; expected a number")
    return int(value) if dtype.is_integer else float(value)


def memset(shape, value, dtype, *, mask=None, engine=unknown):
    """A tile of `value`."""
    inside_kernel("memset")
    kind = dtype_of(dtype)
    number = number_for(kind, value)
    shape = tuple(int(size) for size in shape)
    return give(shape, kind, lambda dst: isa.memset(dst, number_for(dst.dtype, number), engine=engine), box_of(mask, shape))


def iota(expr, dtype, *, mask=None):
    """The values of an index expression as a tile, by the GpSimd engine."""
    if not isinstance(expr, Index):
        raise error("argument", f"iota: expr is {describe(expr)}; expected an index expression of nl.arange or nl.mgrid")
    shape, start, steps = expr.shape, expr.start, expr.steps
    if len(shape) == 1:
        shape, steps = (1,) + shape, (0,) + steps
    box = box_of(mask, shape)

    def issue(dst):
        ranges = box or [(0, size) for size in shape]
        offset = start + sum(step * begin for step, (begin, _) in zip(steps, ranges))
        isa.iota(dst, [[step, end - begin] for step, (begin, end) in zip(steps[1:], ranges[1:])], offset=offset,
                 channel_multiplier=steps[0])
    return give(shape, dtype_of(dtype), issue, box, explicit=dtype)


def dropout(data, prob, *, mask=None, dtype=None):
    """data with each element set to 0 with probability `prob`, a number or a column."""
    box = box_of(mask, tensor("dropout", "data", data).shape)
    if box is False:
        return give(data.shape, data.dtype, None, False, explicit=dtype)
    x, rate = data.read(box), operand("dropout", "prob", prob, box)
    rate = float(rate) if isinstance(rate, numbers.Real) else rate
    return give(data.shape, data.dtype, lambda dst: isa.dropout(dst, x, rate), box, explicit=dtype)
