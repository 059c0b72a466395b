"""Annotations of kernels: tensor[128, 512] for tiles, mutable_tensor for arguments that a kernel writes."""
from nki.typing import tensor


class mutable_tensor(tensor):
    """An argument that the kernel writes into and returns."""


class scalar:
    """An argument that is a number."""

    def __class_getitem__(cls, item):
        return cls
