"""Python's operators on tiles: calls of nki.language."""
from sys import modules as _modules


def _language():
    return _modules["neuronxcc.nki.language"]


class Operators:
    """x + y and the like for whatever holds a tile."""

    __slots__ = ()

    def __add__(self, other):
        return _language().add(self, other)

    def __radd__(self, other):
        return _language().add(other, self)

    def __sub__(self, other):
        return _language().subtract(self, other)

    def __rsub__(self, other):
        return _language().subtract(other, self)

    def __mul__(self, other):
        return _language().multiply(self, other)

    def __rmul__(self, other):
        return _language().multiply(other, self)

    def __truediv__(self, other):
        return _language().divide(self, other)

    def __rtruediv__(self, other):
        return _language().divide(other, self)

    def __pow__(self, other):
        return _language().power(self, other)

    def __rpow__(self, other):
        return _language().power(other, self)

    def __neg__(self):
        return _language().negative(self)

    def __invert__(self):
        return _language().invert(self)

    def __and__(self, other):
        return _language().bitwise_and(self, other)

    def __or__(self, other):
        return _language().bitwise_or(self, other)

    def __xor__(self, other):
        return _language().bitwise_xor(self, other)

    def __lshift__(self, other):
        return _language().left_shift(self, other)

    def __rshift__(self, other):
        return _language().right_shift(self, other)

    def __lt__(self, other):
        return _language().less(self, other)

    def __le__(self, other):
        return _language().less_equal(self, other)

    def __gt__(self, other):
        return _language().greater(self, other)

    def __ge__(self, other):
        return _language().greater_equal(self, other)

    def __eq__(self, other):
        return _language().equal(self, other)

    def __ne__(self, other):
        return _language().not_equal(self, other)

    __hash__ = object.__hash__

    def __bool__(self):
        if self.buffer.name in ("shared_hbm", "private_hbm"):
            return True  # an argument that is there
        from neuronxcc.nki._errors import refusal
        raise refusal("err_ambiguous_tensor_truth_value", f"{self!r} as a condition; its elements differ: use nl.where, or "
                      "ask `is None`")

    def __iadd__(self, other):
        return _modules["neuronxcc.nki._assign"].add_to(self, other)  # it imports this module

    def __isub__(self, other):
        return self._in_place(_language().subtract(self, other))

    def __imul__(self, other):
        return self._in_place(_language().multiply(self, other))

    def __itruediv__(self, other):
        return self._in_place(_language().divide(self, other))

    def _in_place(self, value):
        _modules["neuronxcc.nki._assign"].write(self, value)
        return self
