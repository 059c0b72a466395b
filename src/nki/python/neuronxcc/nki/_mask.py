"""Masks: conjunctions of comparisons of index expressions, and the rectangle of a tile that they leave."""
import dis
import sys

from neuronxcc.nki._errors import refusal
from neuronxcc.nki._index import Index, aligned_steps


class Mask:
    """Index expressions that must all be at least zero."""

    __slots__ = ("bounds",)

    def __init__(self, bounds):
        self.bounds = bounds

    def __and__(self, other):
        if isinstance(other, Mask):
            return Mask(self.bounds + other.bounds)
        if isinstance(other, (bool, int)):
            return self if other else never
        return NotImplemented

    __rand__ = __and__

    def __or__(self, _):
        raise _no_rectangle("`|`")

    __ror__ = __xor__ = __or__

    def __invert__(self):
        if len(self.bounds) != 1:
            raise _no_rectangle("`~` of more than one comparison")
        return at_least_zero(-self.bounds[0] - 1)

    def __bool__(self):
        if _joins_by_and(self):
            return True
        raise refusal("err_ambiguous_tensor_truth_value", "a mask as a condition; it holds for some elements and not for "
                      "others: hand it to mask=, and join masks by &")

    def __repr__(self):
        return f"mask of {len(self.bounds)} comparisons"

    def box(self, shape):
        """[(begin, end)] by dimension of a tile of this shape; None when nothing is left."""
        box = [(0, size) for size in shape]
        oblique = []
        for bound in self.bounds:
            dims = [d for d, step in enumerate(aligned_steps(bound, len(shape))) if step]
            if len(dims) > 1:
                oblique.append(bound)
            elif not _cut(box, bound.start, dims, aligned_steps(bound, len(shape))):
                return None
        for bound in oblique:
            box = _cut_oblique(box, bound, len(shape))
            if box is None:
                return None
        return box


def at_least_zero(bound):
    """The mask of those elements whose `bound`, an Index, is not negative."""
    if not isinstance(bound, Index):
        raise refusal("err_unsupported_expression_in_mask", f"{bound!r} in a comparison; expected index expressions and integers")
    return Mask(_held_by_and() + (bound,))


def equal_zero(bound):
    """The mask of those elements whose `bound` is zero."""
    return Mask(_held_by_and() + (bound, -bound))


never = Mask((Index(-1, (), ()),))


def _no_rectangle(what):
    return refusal("err_unsupported_expression_in_mask", f"{what} in a mask does not leave a rectangle; expected comparisons "
                   "joined by &")


def _cut(box, start, dims, steps):
    """Narrows one dimension of the box; False when nothing is left."""
    if not dims:
        return start >= 0
    dim = dims[0]
    begin, end = box[dim]
    step = steps[dim]
    if step > 0:
        begin = max(begin, -(start // step))
    else:
        end = min(end, start // -step + 1)
    box[dim] = (begin, end)
    return begin < end


def _cut_oblique(box, bound, ndim):
    """A comparison over two dimensions or more: allowed when what it leaves of the box is a rectangle."""
    import numpy as np
    holds = np.full((1,) * ndim, bound.start, dtype=np.int64)
    for dim, step in enumerate(aligned_steps(bound, ndim)):
        begin, end = box[dim]
        holds = holds + step * np.arange(begin, end).reshape((end - begin,) + (1,) * (ndim - dim - 1))
    holds = np.broadcast_to(holds >= 0, [end - begin for begin, end in box])
    if not holds.any():
        return None
    cut = []
    for dim, (begin, _) in enumerate(box):
        there = np.flatnonzero(holds.any(axis=tuple(d for d in range(ndim) if d != dim)))
        cut.append((int(begin + there[0]), int(begin + there[-1] + 1)))
    if holds.sum() != np.prod([end - begin for begin, end in cut]):
        raise refusal("err_unsupported_expression_in_mask", f"a comparison over {ndim} dimensions leaves no rectangle of the "
                      "tile; use nisa.affine_select, or one instruction a rectangle")
    return cut


# `mask and mask`: the older tool chain reads the kernel's text, where `and` of masks means `&`. Here Python asks for the
# truth of the left one first; it is then remembered until the comparison on the right has been made.
_held = None  # (frame, end of the right side, bounds)


def _joins_by_and(mask):
    global _held
    frame = sys._getframe(2)
    code = list(dis.get_instructions(frame.f_code))
    place = next(i for i, instr in enumerate(code) if instr.offset == frame.f_lasti)
    jump = code[place]
    joins = jump.opname == "JUMP_IF_FALSE_OR_POP" or (
        jump.opname == "POP_JUMP_IF_FALSE" and code[place + 1].opname == "POP_TOP")
    compares = any(instr.opname == "COMPARE_OP" for instr in code[place:] if instr.offset < (jump.argval or 0))
    if joins and compares:
        _held = (frame, jump.argval, mask.bounds)
    return joins and compares


def _held_by_and():
    global _held
    if _held is None:
        return ()
    frame, end, bounds = _held
    _held = None
    here = sys._getframe(1)
    while here is not None and here is not frame:
        here = here.f_back
    return bounds if here is not None and here.f_lasti < end else ()
