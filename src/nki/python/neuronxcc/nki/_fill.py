"""Initial values of tensors that are given late: when something is read that no instruction wrote.

A kernel declares nl.zeros(..., buffer=nl.psum) and adds products to it; on the chip the first product overwrites and
the later ones accumulate, and no instruction writes zeros. Blocks of a large tensor likewise get their initial value when
they are first used, and none when all of the block is written first.
"""
from nki import _core
from neuronxcc.nki._pending import at_source

_memset = _core.INSTRUCTIONS["memset"]


def place(core):
    """A part of a tensor as a value that can be compared."""
    return core.offset, core.strides, core.shape


class Fill:
    """What a tile, all of whose elements are `value` when the kernel looks, has had written instead.

    None as the value: they are undefined, and only where products accumulate matters.
    """

    __slots__ = ("core", "value", "source", "written", "done")

    def __init__(self, core, value):
        self.core = core
        self.value = value
        self.source = _core.source()
        self.written = {}
        self.done = False

    def _write_value(self):
        self.done = True
        with at_source(self.source):
            _memset(self.core, self.value)

    def before_read(self, part):
        """Everything that is read has a value afterwards."""
        if self.done or self.value is None or place(part) in self.written:
            return
        if not self.written:
            self._write_value()
        elif sum(view.size for view in self.written.values()) >= self.core.size:
            self.done = True
        elif len(self.written) == 1:
            self._write_around(part, *self.written.values())

    def _write_around(self, part, written):
        """The value for all but the one part that is written, if `part` is not within that: what a mask left alone."""
        box, wanted = _box(written, self.core), _box(part, self.core)
        if box is None or (wanted is not None and all(a <= c and d <= b for (a, b), (c, d) in zip(box, wanted))):
            return
        self.done = True
        with at_source(self.source):
            for dim, (begin, end) in enumerate(box):
                for low, high in ((0, begin), (end, self.core.shape[dim])):
                    if low < high:
                        ranges = box[:dim] + [(low, high)] + [(0, size) for size in self.core.shape[dim + 1:]]
                        _memset(self.core[tuple(slice(*item) for item in ranges)], self.value)

    def before_write(self, part):
        """Notes that `part` will be overwritten."""
        if self.done:
            return
        if part.size == self.core.size:
            self.done = True
        elif not self.written and self.value is not None:
            self._write_value()
        else:
            self.written[place(part)] = part

    def accumulates(self, part):
        """Whether a product that is added to `part` finds something there; notes that it is written."""
        if self.done or place(part) in self.written:
            return True
        if self.value or _overlaps(part, self.written):
            self._settle_rest(part)
            return True
        self.written[place(part)] = part
        return False

    def _settle_rest(self, part):
        if self.written:
            from neuronxcc.nki._errors import error
            raise error("accumulate", f"a product is added to {part!r}, of which earlier products wrote a part; expected the "
                        "same part of a PSUM tile from all products of an accumulation")
        self._write_value()


def _box(part, core):
    """[(begin, end)] by dimension of a part within its tile; None for a part that is no box of it."""
    if len(part.shape) != len(core.shape):
        return None
    rest, box = part.offset - core.offset, []
    for stride, size, own in zip(core.strides, part.shape, part.strides):
        if size > 1 and own != stride:
            return None
        box.append((rest // stride, rest // stride + size))
        rest %= stride
    return box if all(end <= size for (_, end), size in zip(box, core.shape)) else None


def _overlaps(part, others):
    """Whether a part touches an element of another one; exact, as parts may be interleaved."""
    if not others:
        return False
    mine = _elements(part)
    return any(not mine.isdisjoint(_elements(other)) for other in others.values()
               if _span(other)[0] <= _span(part)[1] and _span(part)[0] <= _span(other)[1])


def _span(part):
    low = high = part.offset
    for stride, size in zip(part.strides, part.shape):
        low, high = low + min(0, stride * (size - 1)), high + max(0, stride * (size - 1))
    return low, high


def _elements(part):
    """Offsets of the elements of a part's first partition and of its first column."""
    offsets = {part.offset}
    for stride, size in zip(part.strides, part.shape):
        offsets = {offset + stride * i for offset in offsets for i in range(size)}
    return offsets
