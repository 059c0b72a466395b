"""Index algebra: nl.arange and nl.mgrid as affine expressions over the dimensions of a tile.

An Index is start + sum of steps[d] * i[d], where i[d] counts from 0 to shape[d] - 1. Sums broadcast as NumPy's do.
Comparisons give masks (_mask.py). A dimension that the expression does not depend on has a step of 0.
"""
import numbers

from neuronxcc.nki._errors import refusal


_ALL = slice(None)
_new = object.__new__
_forms = {}


class Index:
    """An affine expression over the dimensions of a tile."""

    __slots__ = ("start", "steps", "shape", "form", "row", "column")

    def __init__(self, start, steps, shape):
        self.start = start
        self.steps = steps
        self.shape = shape
        self.form = _forms.setdefault((steps, shape), len(_forms))  # what it has in common with those that only start elsewhere
        self.row = self.column = None  # [None, :] and [:, None], when known

    @property
    def ndim(self):
        return len(self.shape)

    def __getitem__(self, key):
        """New dimensions of size 1 by None; `:` and `...` keep those there are."""
        if type(key) is tuple and len(key) == 2 and len(self.shape) == 1:
            if key[0] is None and key[1] == _ALL:
                found = self.row
                if found is None:
                    found = self.row = self._expand(key)
                return found
            if key[1] is None and key[0] == _ALL:
                found = self.column
                if found is None:
                    found = self.column = self._expand(key)
                return found
        return self._expand(key if type(key) is tuple else (key,))

    def _expand(self, key):
        steps, shape, used = [], [], 0
        given = sum(item is not None and item is not Ellipsis for item in key)
        for item in key:
            if item is None:
                steps.append(0)
                shape.append(1)
                continue
            count = len(self.shape) - given if item is Ellipsis else 1
            if item is not Ellipsis and item != slice(None):
                raise refusal("err_indirect_indices_are_not_supported_with_nki_api",
                              f"an index expression of shape {self.shape} indexed by {item!r}; expected `:`, `...` and None")
            steps += self.steps[used:used + count]
            shape += self.shape[used:used + count]
            used += count
        return Index(self.start, tuple(steps) + self.steps[used:], tuple(shape) + self.shape[used:])

    def last(self):
        """(smallest, largest) value."""
        low = high = self.start
        for step, size in zip(self.steps, self.shape):
            if step > 0:
                high += step * (size - 1)
            elif step < 0:
                low += step * (size - 1)
        return low, high

    def values(self):
        """All values as a NumPy array of its shape."""
        import numpy as np
        total = np.full(self.shape, self.start, dtype=np.int64)
        for dim, (step, size) in enumerate(zip(self.steps, self.shape)):
            total += step * np.arange(size).reshape((size,) + (1,) * (len(self.shape) - dim - 1))
        return total

    def __add__(self, other):
        if type(other) is Index:
            return _sum(self, other, 1)
        number = other if type(other) is int else _integer(other)
        return NotImplemented if number is None else self._moved(number)

    def _moved(self, number):
        """The same expression, starting `number` later."""
        moved = _new(Index)
        moved.start = self.start + number
        moved.steps, moved.shape, moved.form = self.steps, self.shape, self.form
        moved.row = moved.column = None
        return moved

    __radd__ = __add__

    def __sub__(self, other):
        if type(other) is Index:
            return _sum(self, other, -1)
        number = _integer(other)
        return NotImplemented if number is None else self._moved(-number)

    def __rsub__(self, other):
        return (-self) + other

    def __neg__(self):
        return self * -1

    def __mul__(self, other):
        number = _integer(other)
        if number is None:
            if type(other) is Index:
                raise _not_affine("*")
            return NotImplemented
        return Index(self.start * number, tuple([step * number for step in self.steps]), self.shape)

    __rmul__ = __mul__

    def __floordiv__(self, other):
        number = _divisor("//", other)
        low, high = self.last()
        if low // number == high // number:
            return Index(low // number, (0,) * len(self.shape), self.shape)
        if self.start % number == 0 and all(step % number == 0 for step in self.steps):
            return Index(self.start // number, tuple(step // number for step in self.steps), self.shape)
        raise _not_affine("//")

    def __mod__(self, other):
        number = _divisor("%", other)
        low, high = self.last()
        if low // number == high // number:
            return self - low // number * number
        if all(step % number == 0 for step in self.steps):
            return Index(self.start % number, (0,) * len(self.shape), self.shape)
        raise _not_affine("%")

    def __lt__(self, other):
        return _mask().at_least_zero(other - self - 1)

    def __le__(self, other):
        return _mask().at_least_zero(other - self)

    def __gt__(self, other):
        return _mask().at_least_zero(self - other - 1)

    def __ge__(self, other):
        return _mask().at_least_zero(self - other)

    def __eq__(self, other):
        return _mask().equal_zero(self - other)

    def __ne__(self, other):
        raise refusal("err_unsupported_expression_in_mask", "`!=` between index expressions leaves no rectangle; "
                      "expected comparisons by <, <=, >, >= and ==, joined by &")

    __hash__ = object.__hash__

    def __bool__(self):
        raise refusal("err_ambiguous_tensor_truth_value", f"an index expression of shape {self.shape} as a condition; "
                      "its values differ: use it in mask=")

    def __index__(self):
        if all(size == 1 or step == 0 for size, step in zip(self.shape, self.steps)):
            return self.start
        raise refusal("err_control_flow_condition_depending_on_arange",
                      f"an index expression of shape {self.shape} where one integer is expected")

    def __setitem__(self, key, value):
        raise refusal("err_cannot_assign_to_index", "assignment to an index expression; it is a value known before the "
                      "kernel runs: write into a tile")

    def __repr__(self):
        return f"index expression {self.shape}"


def _mask():
    from neuronxcc.nki import _mask as module
    return module


def _integer(value):
    if type(value) is int:
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    return None


def _divisor(sign, value):
    number = _integer(value)
    if number is None or number < 1:
        raise _not_affine(sign)
    return number


def _not_affine(sign):
    return refusal("err_indirect_indices_are_not_supported_with_nki_api",
                   f"`{sign}` makes an index expression that is not affine (a constant and multiples of positions); "
                   "split the dimension into two aranges")


_common = {}


def common_shape(a, b):
    """The shape that two shapes broadcast to."""
    if a == b:
        return a
    found = _common.get((a, b))
    if found is None:
        found = _common[a, b] = _broadcast(a, b)
    return found


def _broadcast(a, b):
    if len(a) < len(b):
        a = (1,) * (len(b) - len(a)) + a
    elif len(b) < len(a):
        b = (1,) * (len(a) - len(b)) + b
    shape = []
    for x, y in zip(a, b):
        if x != y and x != 1 and y != 1:
            from neuronxcc.nki._errors import error
            raise error("shape", f"index expressions of shapes {a} and {b} do not broadcast; expected equal sizes, or 1")
        shape.append(y if x == 1 else x)
    return tuple(shape)


def aligned_steps(index, ndim):
    """The steps of an Index as seen from a shape of `ndim` dimensions."""
    missing = ndim - len(index.steps)
    return (0,) * missing + index.steps if missing else index.steps


def _sum(a, b, sign):
    shape = common_shape(a.shape, b.shape)
    steps = [x + sign * y for x, y in zip(aligned_steps(a, len(shape)), aligned_steps(b, len(shape)))]
    return Index(a.start + sign * b.start, tuple(steps), shape)


_aranges = {}


def arange(start, stop=None, step=1):
    """The integers from start to stop as an index expression of one dimension; index it with None to place it."""
    key = start if stop is None and step == 1 else (start, stop, step)
    found = _aranges.get(key)
    if found is None:
        values = range(start) if stop is None else range(start, stop, step)
        if not values:
            from neuronxcc.nki._errors import error
            raise error("argument", f"arange({start}, {stop}, {step}) is empty; expected one value at least")
        found = _aranges[key] = Index(values.start, (values.step,), (len(values),))
    return found


class Grid(tuple):
    """What nl.mgrid gives: an Index a dimension, also by the names p, x, y, z, w."""

    p = property(lambda self: self[0])
    x = property(lambda self: self[1])
    y = property(lambda self: self[2])
    z = property(lambda self: self[3])
    w = property(lambda self: self[4])


class _MeshGrid:
    """nl.mgrid[0:128, 0:512]"""

    def __getitem__(self, key):
        slices = key if type(key) is tuple else (key,)
        ndim = len(slices)
        grid = []
        for dim, item in enumerate(slices):
            values = arange(item.start or 0, item.stop, item.step or 1)
            place = (None,) * dim + (slice(None),) + (None,) * (ndim - dim - 1)
            grid.append(values[place])
        return Grid(grid)


mgrid = _MeshGrid()
