"""Arguments of kernels: which of them a kernel may write into.

Under @nki.jit results are returned, and an argument is read only unless it is annotated as neuronxcc.nki.typing's
mutable_tensor; it is returned then. Kernels of the other decorators have their results among their arguments.
"""
import inspect

from neuronxcc.nki._errors import refusal
from neuronxcc.nki.typing import mutable_tensor


class ReadOnly:
    """In place of a Fill (_fill.py): refuses writes to an argument."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def before_read(self, part):
        """Reading is allowed."""

    def before_write(self, part):
        raise refusal("err_cannot_update_immutable_parameter", f"{part!r} is the argument {self.name} and is written into; "
                      "annotate it as nt.mutable_tensor and return it, or make a tensor with nl.ndarray and return that")


def _annotated(function):
    """{name: whether it is mutable} of the parameters in order; None for what has no signature."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return {p.name: p.annotation is mutable_tensor or isinstance(p.annotation, mutable_tensor) or
            "mutable_tensor" in str(p.annotation) for p in parameters}


def protect(function, args, kwargs, tensor_type):
    """Makes arguments read only; gives those that are mutable, by name."""
    mutable = _annotated(function)
    if mutable is None:
        return {}
    names = list(mutable)
    named = {names[i] if i < len(names) else f"argument {i}": value for i, value in enumerate(args)} | kwargs
    writable = {}
    for name, value in named.items():
        if not isinstance(value, tensor_type):
            continue
        if mutable.get(name, False):
            writable[name] = value
        else:
            value.fill = ReadOnly(name)
    return writable


def check_returned(writable, result):
    """Refuses a kernel that does not return its mutable arguments."""
    returned = result if isinstance(result, (tuple, list)) else (result,)
    ids = {getattr(value.core, "storage_id", None) for value in returned if hasattr(value, "core")}
    for name, value in writable.items():
        if value.core.storage_id not in ids:
            raise refusal("err_mutable_parameter_not_returned", f"the kernel does not return its mutable argument {name}; "
                          "return it, so that the framework sees what was written")
