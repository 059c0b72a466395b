"""What the functions of nki.language share: checks of their arguments and new tiles."""
import numbers

from nki import _core
from nki._errors import describe, error
from nki.language.memory import MemoryRegion, is_hbm, is_psum

NkiTensor = _core.NkiTensor
sbuf = MemoryRegion.sbuf


def new_tile(shape, dtype, buffer=sbuf):
    return _core.ndarray(shape, dtype, buffer)


def is_tile(value):
    return isinstance(value, NkiTensor)


def is_scalar(value):
    return isinstance(value, numbers.Real) or hasattr(value, "dtype") and getattr(
        value, "shape", None) == ()


def tile(name, argument, value):
    """`value`, which must be a tile in SBUF or PSUM."""
    if not is_tile(value):
        raise error("argument", f"{name}: {argument} is {describe(value)}; expected a tile "
                    "in SBUF or PSUM")
    if is_hbm(value.buffer):
        raise error("memory", f"{name}: {argument} is {describe(value)}; engines read SBUF "
                    "and PSUM only: bring it on the chip with nl.load first")
    return value


def copy_to_sbuf(value, dtype=None):
    """A copy in SBUF, in another element type if asked."""
    from nki import isa
    result = new_tile(value.shape, dtype or value.dtype)
    isa.tensor_copy(dst=result, src=value)
    return result


def out_of_psum(value):
    """The tile itself, or a copy in SBUF when it lies in PSUM."""
    return copy_to_sbuf(value) if is_psum(value.buffer) else value


def free_elements(value):
    """Elements a partition."""
    return value.size // value.shape[0]
