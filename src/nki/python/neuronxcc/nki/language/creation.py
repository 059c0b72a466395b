"""New tensors: nl.ndarray, zeros, full and the like, and constants."""
import numbers
import os

from nki import _core, isa
from nki.language.memory import MemoryRegion
from neuronxcc.nki._blocks import Blocks
from neuronxcc.nki._call import dtype_of, give, inside_kernel, tensor
from neuronxcc.nki._errors import describe, error, refusal
from neuronxcc.nki._fill import Fill
from neuronxcc.nki._lifetime import dying_dimensions
from neuronxcc.nki._pending import flush, state
from neuronxcc.nki._tensor import Tensor
from neuronxcc.nki.compiler import Allocation
from neuronxcc.nki.isa.generation import number_for

sbuf, psum = MemoryRegion.sbuf, MemoryRegion.psum
private_hbm, shared_hbm = MemoryRegion.private_hbm, MemoryRegion.shared_hbm
_PARTITIONS = 128
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # .../neuronxcc/nki/


class par_dim(int):
    """The size of the partition dimension, marked in a shape."""


def _shape_of(name, shape):
    """The shape as integers, and which dimension the partitions are."""
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    partition = next((i for i, size in enumerate(shape) if type(size) is par_dim), 0)
    try:
        return tuple([int(size) for size in shape]), partition
    except (TypeError, ValueError):
        raise error("shape", f"{name}: shape {describe(shape)}; expected integers, known before the kernel runs") from None


def _check_on_chip(name, shape, partition, given):
    if len(shape) == 1 and type(given[0]) is not par_dim and shape[0] > _PARTITIONS:
        raise refusal("err_leading_dimension_of_tensor_must_be_partition", f"{name}: shape {shape}; the first dimension of a "
                      "tensor on the chip is its partitions")
    if shape[partition] > _PARTITIONS:
        raise refusal("err_num_partition_exceed_arch_limit", f"{name}: {shape[partition]} partitions in shape {shape}; "
                      f"expected at most {_PARTITIONS}")


def _hbm(shape, dtype, buffer, name):
    run = state.run
    return run.hbm(shape, dtype, buffer, name) if run is not None else Tensor(_core.ndarray(shape, dtype, buffer, name))


def _first_place(allocation):
    """An allocation; that of the first trip of the loops around it, which are read once (loops.py)."""
    run = state.run
    if run is None or not allocation.is_manual:
        return allocation
    if run.repeats:
        return run.places.get(_core.source(), allocation)
    run.places[_core.source()] = allocation
    return allocation


def _new(name, shape, dtype, buffer, label, value=None):
    inside_kernel(name)
    flush()
    given = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    sizes, partition = _shape_of(name, shape)
    dtype = dtype_of(dtype)
    place = _first_place(buffer) if isinstance(buffer, Allocation) else None
    memory = sbuf if buffer is None else place.memory if place else buffer
    if memory not in (sbuf, psum):
        if memory not in (private_hbm, shared_hbm):
            raise refusal("err_unsupported_memory", f"{name}: buffer is {describe(buffer)}; expected nl.sbuf, nl.psum, nl.hbm, "
                          "nl.private_hbm, nl.shared_hbm or an allocation of neuronxcc.nki.compiler")
        if value is not None:
            raise refusal("err_hbm_tensor_with_init_value_not_supported", f"{name} in HBM; make it with nl.ndarray and write "
                          "into it with nl.store")
        return _hbm(sizes, dtype, memory, label or "")
    _check_on_chip(name, sizes, partition, given)
    if place is not None and value is not None and place.is_manual:
        raise refusal("err_tensor_creation_on_scratchpad_with_init_value_not_supported", f"{name} with an allocation; make it "
                      "with nl.ndarray and write into it")
    if place is not None and place.is_manual and state.run is not None:
        state.run.allocates = True
    if partition > 0:
        blocks = Blocks(sizes, partition, dtype, memory, value, label or "", place.of_block if place else None)
        if place is None:
            blocks.dying = tuple(dim for dim in dying_dimensions(_PACKAGE) if dim < partition)
        return blocks
    sizes = sizes if len(sizes) > 1 else sizes + (1,)
    address = place.address((), sizes, dtype) if place else None
    core = _core.ndarray(sizes, dtype, memory, label or "", address) if address else _core.ndarray(sizes, dtype, memory,
                                                                                                 label or "")
    return Tensor(core, fill=Fill(core, value) if value is not None or memory is psum else None)


def ndarray(shape, dtype, *, buffer=None, name="", **_):
    """A new tensor of undefined values: a tile, with dimensions before nl.par_dim many, or an HBM tensor."""
    return _new("ndarray", shape, dtype, buffer, name)


def empty(shape, dtype, *, buffer=None, name="", **_):
    """Another name of ndarray."""
    return _new("empty", shape, dtype, buffer, name)


def full(shape, fill_value, dtype, *, buffer=None, name="", mask=None, **_):
    """A new tensor with `fill_value` everywhere."""
    inside_kernel("full")
    if isinstance(fill_value, Tensor):
        raise error("argument", f"full: fill_value is {fill_value!r}; expected a number")
    value = number_for(dtype_of(dtype), fill_value)
    sizes, partition = _shape_of("full", shape)
    simple = partition == 0 and (buffer is None or buffer is sbuf)
    if not simple or mask is not None:
        return _new("full", shape, dtype, buffer, name, value)
    _check_on_chip("full", sizes, partition, tuple(shape) if isinstance(shape, (tuple, list)) else (shape,))
    return give(sizes, dtype_of(dtype), lambda dst: isa.memset(dst, number_for(dst.dtype, value)))


def zeros(shape, dtype, *, buffer=None, name="", **more):
    """A new tensor of zeros; in PSUM, one to which products are added."""
    return full(shape, 0, dtype, buffer=buffer, name=name, **more)


def ones(shape, dtype, *, buffer=None, name="", **more):
    """A new tensor of ones."""
    return full(shape, 1, dtype, buffer=buffer, name=name, **more)


def zeros_like(a, dtype=None, *, buffer=None, name="", **_):
    """Zeros of the shape and type of a."""
    return zeros(a.shape, dtype or a.dtype, buffer=buffer, name=name)


def empty_like(a, dtype=None, *, buffer=None, name="", **_):
    """An undefined tensor of the shape and type of a."""
    return ndarray(a.shape, dtype or a.dtype, buffer=buffer or a.buffer, name=name)


def rand(shape, dtype="float32", **_):
    """A new tile of random numbers from 0 to 1."""
    from nki import language
    inside_kernel("rand")
    flush()
    return Tensor(language.rand(tuple(shape), dtype_of(dtype)))


def random_seed(seed, **_):
    """Starts the random numbers again from a seed, a [1, 1] tile or an integer."""
    from nki import language
    inside_kernel("random_seed")
    flush()
    if isinstance(seed, numbers.Integral):
        seed = full((1, 1), int(seed), "int32")
    language.random_seed(tensor("random_seed", "seed", seed).read())


def shared_constant(constant, dtype=None, **_):
    """A tensor in HBM that holds a NumPy array."""
    import numpy as np
    from nki import dtype as dtypes, language
    inside_kernel("shared_constant")
    flush()
    if dtype is not None:
        constant = np.asarray(constant).astype(dtypes.to_numpy(dtype_of(dtype)))
    return Tensor(language.shared_constant(constant))


def shared_identity_matrix(n, dtype="uint8", **_):
    """The n x n identity matrix in HBM."""
    import numpy as np
    return shared_constant(np.eye(n), dtype)
