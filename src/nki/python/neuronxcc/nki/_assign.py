"""`dst[...] = value` and `dst[...] += value`."""
import numbers
from sys import getrefcount

from nki import _core
from neuronxcc.nki._errors import describe, error, refusal
from neuronxcc.nki._fill import Fill
from neuronxcc.nki._pending import flush
from neuronxcc.nki._tensor import Result, Tensor

_isa = _core.INSTRUCTIONS
_copy, _dma_copy, _memset, _tensor_tensor = (_isa["tensor_copy"], _isa["dma_copy"], _isa["memset"], _isa["tensor_tensor"])


def is_hbm(tensor):
    return tensor.buffer.name in ("shared_hbm", "private_hbm")


class _Probe:
    """Counts, as Tensor.__setitem__ and write would, the references to a value that has no name."""

    waiting = None

    def __setitem__(self, key, value):
        self.count(value)

    def count(self, value):
        type(self).references = getrefcount(value)

    def make(self):
        self.waiting = object()
        return self.waiting


_probe = _Probe()
_probe[...] = _probe.make()
# A result with more references has a name in the kernel, and keeps a tile of its own.
_UNNAMED = _Probe.references


def starts_at_quadrant(core):
    """Whether an engine can begin at the first partition of a view: 0, 32, 64 or 96."""
    return core.offset // core.partition_elements % 32 == 0


def write(target, value):
    """Writes a tile, a number or what an instruction returned into `target`, a Tensor."""
    if isinstance(value, Result) and value.waits and _fits(target, value) and getrefcount(value) <= _UNNAMED:
        value.settle_into(target)
        return
    flush()
    if isinstance(value, numbers.Number):
        core = target.target()
        number = int(value) if core.dtype.is_integer else float(value)
        if starts_at_quadrant(core):
            _memset(core, number)
        else:  # engines cannot start there; a DMA can
            filled = _core.ndarray(core.shape, core.dtype)
            _memset(filled, number)
            _dma_copy(core, filled)
        return
    if not isinstance(value, Tensor):
        raise error("argument", f"{describe(value)} assigned to {target!r}; expected a tile or a number")
    if _is_same(target, value):
        return  # what `+=` did already
    box = value.box if isinstance(value, Result) else None
    source = value.read(box)
    copy_to(target.target(box), source)


def copy_to(target, source):
    """Copies by the instruction that reaches both memories. Shapes may differ by dimensions of size 1."""
    if source.shape != target.shape:
        source, target = as_shape_of(source, target)
    if source.buffer.name in ("shared_hbm", "private_hbm") or target.buffer.name in ("shared_hbm", "private_hbm"):
        _dma_copy(target, source)
    else:
        _copy(target, source)


def as_shape_of(source, target):
    """Both with as many dimensions, where only dimensions of size 1 differ."""
    if source.size == target.size:
        return source, target
    from neuronxcc.nki._view import broadcast
    shape = target.shape
    if source.ndim < len(shape) and source.buffer.name not in ("sbuf", "psum"):
        return broadcast(source, shape), target
    if source.ndim != len(shape) or any(a not in (1, b) for a, b in zip(source.shape, shape)):
        raise refusal("err_store_dst_shape_smaller_than_other_shape", f"{source!r} written to {target!r}; expected equal "
                      "shapes, or sizes of 1 in what is written")
    return broadcast(source, shape), target


def _fits(target, value):
    """Whether the instruction of `value` can write into `target` itself."""
    if value.shape != target.shape and (value.size != target.size or value.box is not None):
        return False
    memory = target.buffer
    if memory is not value.memory and (value.product is not None or is_hbm(target) or value.memory.name == "psum"):
        return False
    if value.memory.name == "psum" and value.dtype != target.dtype and (value.product is None or value.dtype != "float32"):
        return False  # a transpose keeps its type
    return not value.explicit or value.dtype == target.dtype or target.dtype == "float32"


def _is_same(target, value):
    a, b = target.core, value.core
    return a is b or (a is not None and b is not None and a.offset == b.offset and a.shape == b.shape and
                      a.strides == b.strides and target.fill is value.fill and a.storage_id == b.storage_id)


def add_to(target, value):
    """`target += value`: a product accumulates in PSUM, anything else is added by the Vector engine."""
    if isinstance(value, Result) and value.waits and value.product is not None and target.buffer.name == "psum":
        _accumulate(target, value)
    else:
        from neuronxcc.nki import language
        write(target, language.add(target, value))
    return target


def _accumulate(target, value):
    issue, box = value.product, value.box
    core = target.part(box)
    fill = target.fill
    again = fill.accumulates(core) if isinstance(fill, Fill) else True
    value.issue = lambda _: issue(core, again)
    value.box = None
    value.settle_into(Tensor(core))
