"""Instructions that choose: by position, by predicate, by size."""
import numbers

from nki import isa, language
from nki.language._tiles import out_of_psum
from neuronxcc.nki._call import box_of, give, operand, statement, tensor, within
from neuronxcc.nki._errors import describe, error
from neuronxcc.nki._index import aligned_steps
from neuronxcc.nki._mask import Mask

reset_reduce = isa.reduce_cmd.reset_reduce


def affine_select(pred, on_true_tile, on_false_value, *, mask=None, dtype=None):
    """on_true_tile where pred, one comparison of index expressions, holds, else the number on_false_value."""
    tensor("affine_select", "on_true_tile", on_true_tile)
    if not isinstance(pred, Mask) or len(pred.bounds) not in (1, 2):
        raise error("argument", f"affine_select: pred is {describe(pred)}; expected one comparison of index expressions")
    shape = on_true_tile.shape
    box = box_of(mask, shape)
    if box is False:
        return give(shape, on_true_tile.dtype, None, False, explicit=dtype)
    bound = pred.bounds[0]
    compare = language.greater_equal if len(pred.bounds) == 1 else language.equal
    steps = aligned_steps(bound, len(shape))
    ranges = box or [(0, size) for size in shape]
    offset = bound.start + sum(step * begin for step, (begin, _) in zip(steps, ranges))
    pattern = [[step, end - begin] for step, (begin, end) in zip(steps[1:], ranges[1:])]
    x = out_of_psum(on_true_tile.read(box))
    number = float(operand("affine_select", "on_false_value", on_false_value))
    return give(shape, on_true_tile.dtype, lambda dst: isa.affine_select(
        dst, pattern, steps[0], x, number, cmp_op=compare, offset=offset), box, explicit=dtype)


def range_select(*, on_true_tile, comp_op0, comp_op1, bound0, bound1, reduce_cmd=reset_reduce, reduce_res=None,
                 reduce_op=language.maximum, range_start=0.0, on_false_value=language.fp32.min, mask=None, dtype=None):
    """on_true_tile where the position lies between two columns of bounds, and the largest of it in reduce_res."""
    tensor("range_select", "on_true_tile", on_true_tile)
    box = box_of(mask, on_true_tile.shape)
    if box is False:
        return give(on_true_tile.shape, on_true_tile.dtype, None, False, explicit=dtype)
    x, low, high = (value.read(within(box, value.shape)) for value in (on_true_tile, bound0, bound1))
    total = None if reduce_res is None else reduce_res.target(within(box, reduce_res.shape))
    start = int(range_start) + (box[-1][0] if box else 0)
    return give(on_true_tile.shape, on_true_tile.dtype, lambda dst: isa.range_select(
        dst, x, comp_op0, comp_op1, low, high, reduce_cmd=reduce_cmd, reduce_res=total, reduce_op=reduce_op,
        range_start=start, on_false_value=float(on_false_value)), box, explicit=dtype)


def select_reduce(*, dst, predicate, on_true, on_false, reduce_res=None, reduce_cmd=isa.reduce_cmd.idle,
                  reduce_op=language.maximum, reverse_pred=False, mask=None, dtype=None):
    """on_true where predicate, else on_false, into dst, and the largest of it in reduce_res."""
    del dtype
    box = box_of(mask, tensor("select_reduce", "dst", dst).shape)

    def issue():
        total = None if reduce_res is None else reduce_res.target(within(box, reduce_res.shape))
        other = operand("select_reduce", "on_false", on_false, box)
        isa.select_reduce(dst.target(box), predicate.read(within(box, predicate.shape)), on_true.read(within(box, on_true.shape)),
                          float(other) if isinstance(other, numbers.Real) else other, reduce_res=total,
                          reduce_cmd=reduce_cmd, reduce_op=reduce_op, reverse_pred=reverse_pred)
    statement(issue, box)


def max8(*, src, mask=None, dtype=None):
    """The eight largest of each partition, in order."""
    box = box_of(mask, tensor("max8", "src", src).shape)
    x = None if box is False else src.read(box)
    left = box if box in (None, False) else [box[0], (0, 8)]
    return give((src.shape[0], 8), src.dtype, lambda dst: isa.max8(dst, x), left, explicit=dtype)


def nc_find_index8(*, data, vals, mask=None, dtype=None):
    """Where in data each of eight values a partition is."""
    box = box_of(mask, tensor("nc_find_index8", "data", data).shape)
    if box is False:
        return give((data.shape[0], 8), "uint32", None, False, explicit=dtype or "uint32")
    x, wanted = data.read(box), vals.read(None if box is None else [box[0], (0, 8)])
    left = None if box is None else [box[0], (0, 8)]
    return give((data.shape[0], 8), "uint32", lambda dst: isa.nc_find_index8(dst, x, wanted), left,
                explicit=dtype or "uint32")


def nc_match_replace8(*, data, vals, imm, dst_idx=None, mask=None, dtype=None):
    """data with the first match of each of eight values a partition replaced by imm; their places in dst_idx."""
    box = box_of(mask, tensor("nc_match_replace8", "data", data).shape)
    if box is False:
        return give(data.shape, data.dtype, None, False, explicit=dtype)
    rows = None if box is None else [box[0], (0, 8)]
    x, wanted = data.read(box), vals.read(rows)
    places = None if dst_idx is None else dst_idx.target(rows)
    number = float(operand("nc_match_replace8", "imm", imm))
    return give(data.shape, data.dtype, lambda dst: isa.nc_match_replace8(dst, x, wanted, number, dst_idx=places), box,
                explicit=dtype)


def sequence_bounds(*, segment_ids, mask=None, dtype=None):
    """Where the segment of each element begins and ends."""
    tensor("sequence_bounds", "segment_ids", segment_ids)
    box = box_of(mask, segment_ids.shape)
    rows, columns = segment_ids.shape[0], segment_ids.size // segment_ids.shape[0]
    x = None if box is False else segment_ids.read(box)
    return give((rows, 2, columns), segment_ids.dtype, lambda dst: isa.sequence_bounds(dst, x),
                box if box in (None, False) else [box[0], (0, 2), box[1]], explicit=dtype)
