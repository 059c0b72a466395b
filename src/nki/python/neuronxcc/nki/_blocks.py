"""Tensors with dimensions before the partition dimension: nl.ndarray((4, nl.par_dim(128), 512)).

Each index of the block dimensions is a tile of its own, made when it is first used and placed like one that a loop body
declares. Blocks that no later instruction can name again go (_lifetime.py).
"""
from nki import _core
from nki.language.memory import psum
from neuronxcc.nki import _view
from neuronxcc.nki._assign import write
from neuronxcc.nki._errors import error
from neuronxcc.nki._fill import Fill
from neuronxcc.nki._index import Index
from neuronxcc.nki._operators import Operators
from neuronxcc.nki._tensor import Tensor

ndarray = _core.ndarray


class Blocks(Operators):
    """A tensor of many tiles."""

    __slots__ = ("shape", "dtype", "buffer", "value", "name", "place", "tiles", "prefix", "blocks", "dying")

    def __init__(self, shape, partition, dtype, buffer, value=None, name="", place=None):
        self.shape = shape
        self.blocks = partition  # how many dimensions come before the partitions
        self.dtype = _core.dtype(dtype)
        self.buffer = buffer
        self.value = value
        self.name = name
        self.place = place
        self.tiles = {}
        self.prefix = ()
        self.dying = ()

    @property
    def ndim(self):
        return len(self.shape)

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        return f"{self.buffer.name} tensor of blocks {self.name} {self.shape} {self.dtype}"

    def __getitem__(self, key):
        if type(key) is not tuple:
            key = (key,)
        count = self.blocks
        if len(key) < count or any(item is Ellipsis for item in key[:count]):
            return self._some(key)
        place = key[:count]
        tile = self.tiles.get(place)
        if tile is None:
            place = self._checked(place)
            tile = self.tiles.get(place)
            if tile is None:
                tile = self._make(place)
        return _view.index(tile, key[count:]) if len(key) > count else tile

    def __setitem__(self, key, value):
        write(self[key], value)

    def _some(self, key):
        """The blocks whose index begins like this."""
        if key == (Ellipsis,):
            return self
        if len(key) >= self.blocks:
            raise error("unsupported", f"`...` among the block dimensions of {self!r}; name each block by integers")
        part = Blocks(self.shape[len(key):], self.blocks - len(key), self.dtype, self.buffer, self.value, self.name)
        part.tiles, part.prefix = _Prefixed(self, self._numbers(key)), key
        return part

    def _numbers(self, place):
        numbers = []
        for dim, (item, size) in enumerate(zip(place, self.shape)):
            if isinstance(item, slice):
                raise error("unsupported", f"a slice of dimension {dim} of {self!r}, which counts tiles; one instruction "
                            "reads one tile: loop over them")
            number = item.start if type(item) is Index and item.shape.count(1) == item.ndim else item
            number = int(number) + (size if int(number) < 0 else 0)
            if not 0 <= number < size:
                from neuronxcc.nki._errors import refusal
                raise refusal("err_tensor_access_out_of_bound", f"block {number} of dimension {dim} of {self!r}")
            numbers.append(number)
        return tuple(numbers)

    def _checked(self, place):
        return self._numbers(place)

    def _make(self, place):
        if isinstance(self.tiles, _Prefixed):
            return self.tiles.make(place)
        for dim in self.dying:
            self._drop_others(dim, place[dim])
        address = self.place(place, self.shape, self.dtype) if self.place is not None else None
        shape = self.shape[self.blocks:]
        shape = shape if len(shape) > 1 else shape + (1,)
        core = ndarray(shape, self.dtype, self.buffer, self.name, address) if address else ndarray(
            shape, self.dtype, self.buffer, self.name)
        fill = Fill(core, self.value) if self.value is not None or self.buffer is psum else None
        tile = self.tiles[place] = Tensor(core, fill=fill)
        return tile

    def _drop_others(self, dim, number):
        """Lets go of blocks of an earlier trip of the loop that all uses are within."""
        tiles = self.tiles
        if tiles and next(reversed(tiles))[dim] != number:
            for old in [place for place in tiles if place[dim] != number]:
                del tiles[old]


class _Prefixed:
    """The tiles of a tensor of blocks behind a first few indices."""

    def __init__(self, whole, prefix):
        self.whole, self.prefix = whole, prefix

    def get(self, place):
        return self.whole.tiles.get(self.prefix + tuple(place))

    def make(self, place):
        return self.whole._make(self.prefix + tuple(place))
