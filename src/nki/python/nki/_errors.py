"""Refusals made in Python: the same classes and the same form of message as the simulator's own."""
import sys
import warnings

from nki import _core
from nki._run import NkiWarning

_CLASSES = {cls.error_class: cls for cls in _core.ERROR_CLASSES}


def error(error_class, text):
    """The exception of a class of docs/ERRORS.md, to be raised."""
    return _CLASSES[error_class](f"[{error_class}] {text}")


def describe(value):
    """A value as messages name it."""
    if isinstance(value, _core.NkiTensor):
        return repr(value)[1:-1]
    if isinstance(value, _core.VirtualRegister):
        return "a register"
    text = repr(value)
    return f"{text if len(text) <= 80 else text[:80] + '…'} ({type(value).__name__})"


def warn_not_on_chip(what, instead):
    """Says once a place in the kernel that `what` stays in simulation."""
    warnings.warn(f"{what} works in this simulator and does not compile for the chip; {instead}",
                  NkiWarning, stacklevel=_levels_to_kernel())


def _levels_to_kernel():
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == "nki":
        frame = frame.f_back
        level += 1
    return level - 1
