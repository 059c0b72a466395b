"""The memories of the chip as nki.language names them."""
from enum import Enum

from nki import _core


class MemoryRegion(Enum):
    """Where a tensor lives."""

    sbuf = "sbuf"
    psum = "psum"
    private_hbm = "private_hbm"
    shared_hbm = "shared_hbm"


sbuf = MemoryRegion.sbuf  # 128 partitions beside the engines
psum = MemoryRegion.psum  # where the Tensor engine accumulates
private_hbm = MemoryRegion.private_hbm  # HBM of this core alone
hbm = private_hbm
shared_hbm = MemoryRegion.shared_hbm  # HBM that both cores of a pair see; inputs and outputs

_core.register_enum("buffer", MemoryRegion)


def is_sbuf(buffer):
    """Whether `buffer` is SBUF."""
    return buffer is MemoryRegion.sbuf


def is_psum(buffer):
    """Whether `buffer` is PSUM."""
    return buffer is MemoryRegion.psum


def is_hbm(buffer):
    """Whether `buffer` is HBM, private or shared."""
    return buffer is MemoryRegion.private_hbm or buffer is MemoryRegion.shared_hbm


def is_on_chip(buffer):
    """Whether `buffer` is SBUF or PSUM."""
    return buffer is MemoryRegion.sbuf or buffer is MemoryRegion.psum
