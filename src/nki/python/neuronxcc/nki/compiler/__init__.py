"""neuronxcc.nki.compiler: where tiles lie, when the kernel says so.

sbuf.alloc and psum.alloc take a function from a block's index and a tile's size to an address; sbuf.mod_alloc and
psum.mod_alloc are the usual one, which gives block i the place i modulo a number. auto_alloc leaves it to the tool chain.
"""
import functools
import inspect

from nki import _core
from nki.language.memory import MemoryRegion
from neuronxcc.nki._errors import error


def _takes_names(function):
    """Whether an allocation function has its parameters under their usual names, as functools.partial needs them."""
    try:
        return {"idx", "pdim_size", "fdim_size"} <= set(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return False


class Allocation:
    """What `buffer=` holds when the kernel places its tiles itself."""

    def __init__(self, memory, function=None):
        self.memory = memory
        self.function = function
        self.by_name = function is not None and _takes_names(function)

    @property
    def is_manual(self):
        return self.function is not None

    @property
    def name(self):
        return self.memory.name

    def address(self, block, shape, dtype):
        """(partition, byte) of the tile of a block; None when the tool chain chooses."""
        if self.function is None:
            return None
        partitions, bytes_each = shape[0], _core.dtype(dtype).itemsize
        for size in shape[1:]:
            bytes_each *= size
        if self.by_name:
            place = self.function(idx=block, pdim_size=partitions, fdim_size=bytes_each)
        else:
            place = self.function(block, partitions, bytes_each)
        if self.memory is MemoryRegion.psum:
            bank, partition, byte = place
            return int(partition), int(bank) * _core.machine_constant("psum_bank_bytes") + int(byte)
        partition, byte = place
        return int(partition), int(byte)

    def of_block(self, block, shape, dtype):
        """The address of a block of a tensor of this shape."""
        return self.address(block, shape[len(block):], dtype)


def _modulo_place(block, counts, name):
    """Which of its places a block has: its index, each part modulo the number of places along it."""
    counts = tuple(counts) if counts else (1,) * len(block)
    if len(counts) != len(block):
        raise error("argument", f"mod_alloc: {name} is {counts} for blocks of {len(block)} dimensions; expected as many")
    place = 0
    for index, count in zip(block, counts):
        place = place * count + index % count
    return place


class _Sbuf:
    """sbuf.alloc, sbuf.mod_alloc and sbuf.auto_alloc."""

    @staticmethod
    def alloc(func):
        """Tiles at func(block index, partitions, bytes a partition), a start partition and a byte."""
        return Allocation(MemoryRegion.sbuf, func)

    @staticmethod
    def mod_alloc(*, base_addr, base_partition=0, num_par_tiles=(), num_free_tiles=()):
        """Blocks in turn at num_free_tiles places from base_addr on, and num_par_tiles groups of partitions."""
        def place(block, partitions, bytes_each):
            return (base_partition + _modulo_place(block, num_par_tiles, "num_par_tiles") * partitions,
                    base_addr + _modulo_place(block, num_free_tiles, "num_free_tiles") * bytes_each)
        return Allocation(MemoryRegion.sbuf, place)

    @staticmethod
    def auto_alloc():
        """Tiles wherever the tool chain puts them."""
        return Allocation(MemoryRegion.sbuf)


class _Psum:
    """psum.alloc, psum.mod_alloc and psum.auto_alloc."""

    @staticmethod
    def alloc(func):
        """Tiles at func(block index, partitions, bytes a partition), a bank, a start partition and a byte."""
        return Allocation(MemoryRegion.psum, func)

    @staticmethod
    def mod_alloc(*, base_bank, base_addr=0, base_partition=0, num_bank_tiles=(), num_par_tiles=(), num_free_tiles=()):
        """Blocks in turn in num_bank_tiles banks from base_bank on."""
        def place(block, partitions, bytes_each):
            return (base_bank + _modulo_place(block, num_bank_tiles, "num_bank_tiles"),
                    base_partition + _modulo_place(block, num_par_tiles, "num_par_tiles") * partitions,
                    base_addr + _modulo_place(block, num_free_tiles, "num_free_tiles") * bytes_each)
        return Allocation(MemoryRegion.psum, place)

    @staticmethod
    def auto_alloc():
        """Tiles wherever the tool chain puts them."""
        return Allocation(MemoryRegion.psum)


sbuf, psum = _Sbuf(), _Psum()


def _hint(name):
    """A decorator that tells the compiler for the chip something, and changes nothing here."""
    def decorate(function=None, **_):
        return function if function is not None else functools.partial(decorate)
    decorate.__name__ = decorate.__qualname__ = name
    decorate.__doc__ = f"{name}: for the compiler of the chip; kernels run the same with and without."
    return decorate


skip_middle_end_transformations = _hint("skip_middle_end_transformations")
enable_stack_allocator = _hint("enable_stack_allocator")
force_auto_alloc = _hint("force_auto_alloc")
multi_buffer = _hint("multi_buffer")
