"""Registers of the engines' sequencers."""
from nki import _core


def register_alloc(x=None):
    """A new 32-bit register; `x`, an integer, is moved into it."""
    register = _core.new_register(False)
    if x is not None:
        _core.INSTRUCTIONS["register_move"](register, x)
    return register
