"""Annotations of kernels: nt.tensor[128, 512] says which shape an argument has."""


class tensor:
    """tensor[shape] or tensor[shape, dtype]; kernels run the same with and without."""

    def __init__(self, shape=None, dtype=None):
        self.shape, self.dtype = shape, dtype

    def __class_getitem__(cls, item):
        items = item if isinstance(item, tuple) else (item,)
        dtype = None
        if items and not isinstance(items[-1], int) and isinstance(items[-1], (str, type)):
            items, dtype = items[:-1], items[-1]
        shape = items[0] if len(items) == 1 and isinstance(items[0], (tuple, list)) else items
        return cls(tuple(shape), dtype)

    def __repr__(self):
        return f"nki.typing.tensor[{', '.join(map(str, self.shape or ()))}]"
