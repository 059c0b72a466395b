"""What kernels hold: tensors, views of them by indices, results of calls, and tensors of many blocks."""
from sys import modules as _modules

from nki import _core
from neuronxcc.nki import _view
from neuronxcc.nki._operators import Operators
from neuronxcc.nki._pending import at_source, state

ndarray = _core.ndarray


class Tensor(Operators):
    """A tensor in HBM, SBUF or PSUM, or a part of one.

    `core` is what the simulator's instructions take. It is None for a part that leaves its tensor: a mask must narrow
    it (_view.py). `fill` is what a tensor still holds that is not written yet (_fill.py); views share it. `plans` and
    `views` are what earlier index expressions of this tensor came to (_view.py).
    """

    __slots__ = ("_core", "shape", "dtype", "fill", "far", "plans", "views")

    def __init__(self, core, shape=None, fill=None, far=None, dtype=None):
        self._core = core
        self.shape = core.shape if shape is None else shape
        self.dtype = core.dtype if dtype is None else dtype
        self.fill = fill
        self.far = far
        self.plans = None

    @property
    def core(self):
        return self._core

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        size = 1
        for n in self.shape:
            size *= n
        return size

    @property
    def buffer(self):
        return (self.far.base if self._core is None else self._core).buffer

    @property
    def itemsize(self):
        return self.dtype.itemsize

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        return repr(self.core)[1:-1] if self.core is not None else f"a part of {self.far.base!r}"

    def __getitem__(self, key):
        return _view.index(self, key)

    def __setitem__(self, key, value):
        _modules["neuronxcc.nki._assign"].write(_view.index(self, key), value)  # it imports this module

    def part(self, box):
        """The simulator's view of [(begin, end)] by dimension; of all of it when box is None."""
        core = self.core
        if core is None:
            return self.far.within(box)
        if box is None:
            return core
        return core[tuple([slice(begin, end) for begin, end in box])]

    def read(self, box=None):
        """The view to read from: what is not written yet gets its initial value first."""
        core = self.part(box)
        fill = self.fill
        if fill is not None:
            fill.before_read(core)
        return core

    def target(self, box=None):
        """The view to write into."""
        core = self.part(box)
        fill = self.fill
        if fill is not None:
            fill.before_write(core)
        return core

    def _same(self, core):
        return Tensor(core, fill=self.fill)

    def reshape(self, *sizes, shape=None):
        """The same elements in another shape."""
        sizes = sizes if shape is None else shape
        return self._same(self.core.reshape(sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes))

    def broadcast_to(self, *shape):
        """The same elements, read again and again along dimensions of size 1."""
        shape = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return self._same(_view.broadcast(self.core, shape))

    def expand_dims(self, axis):
        """With a dimension of size 1 before `axis`."""
        return self._same(self.core.expand_dim(axis))

    def view(self, dtype):
        """The same bytes as another element type."""
        return self._same(self.core.view(_core.dtype(dtype)))

    def astype(self, dtype):
        """A copy in another element type."""
        from neuronxcc.nki import language
        return language.copy(self, dtype=dtype)

    def ap(self, pattern, offset=0, dtype=None):
        """An access pattern of the storage."""
        return self._same(self.core.ap(pattern, offset=offset, dtype=dtype))


class Result(Tensor):
    """What a call returns. `issue(dst)` makes its instruction; `box` is the part of it that a mask left."""

    __slots__ = ("issue", "box", "memory", "source", "product", "explicit")

    def __init__(self, shape, dtype, memory, issue, box=None, product=None, explicit=False):
        self._core = None
        self.shape = shape
        self.dtype = dtype if type(dtype) is not str else _core.dtype(dtype)
        self.fill = None
        self.far = self.plans = None
        self.memory = memory
        self.issue = issue
        self.box = box
        self.product = product  # of a matmul: issue(dst, accumulate)
        self.explicit = explicit

    @property
    def core(self):
        if self._core is None:
            self.settle()
        return self._core

    @property
    def buffer(self):
        return self.memory

    @property
    def waits(self):
        return state.waiting is self

    def settle(self):
        """Issues the instruction into a new tile."""
        if state.waiting is self:
            state.waiting = None
        with at_source(self.source):
            shape = self.shape if len(self.shape) > 1 else (self.shape + (1,) if self.shape else (1, 1))
            self._core = core = ndarray(shape, self.dtype, self.memory)
            self.shape = core.shape
            if self.issue is not None:
                self.issue(self.part(self.box))
        self.issue = self.product = None

    def settle_into(self, view):
        """Issues the instruction with `view`, a Tensor, as its destination, and is that tile from now on."""
        state.waiting = None
        with at_source(self.source):
            if self.issue is not None:
                self.issue(view.target(self.box))
        self._core = view.core
        self.fill = view.fill
        self.issue = self.product = None
