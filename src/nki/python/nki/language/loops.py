"""Loops. Those over Python integers are Python's own range: the kernel issues every turn's
instructions. Those over registers run here with the values the registers have."""
import warnings

from nki import _core, isa
from nki._errors import describe, error


def affine_range(start, stop=None, step=1):
    """range(start, stop, step)"""
    return _static("affine_range", start, stop, step)


def sequential_range(start, stop=None, step=1):
    """range(start, stop, step)"""
    return _static("sequential_range", start, stop, step)


def static_range(start, stop=None, step=1):
    """range(start, stop, step)"""
    return _static("static_range", start, stop, step)


def _static(name, start, stop, step):
    try:
        return range(start) if stop is None and step == 1 else range(
            *((0, start) if stop is None else (start, stop)), step)
    except TypeError:
        raise error("argument", f"{name}: bounds {describe(start)}, {describe(stop)}, "
                    f"step {describe(step)}; expected Python integers (registers: "
                    "nl.fori_loop)") from None


def _bound(name, which, value):
    if isinstance(value, _core.VirtualRegister):
        return _core.read_register(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise error("argument", f"{name}: {which} is {describe(value)}; expected an integer or a "
                "register (nisa.register_alloc)")


def _check_loop(name, step):
    if not isinstance(step, int) or isinstance(step, bool) or step < 1:
        raise error("argument", f"{name}: step is {describe(step)}; expected a positive Python "
                    "integer, which the loop instruction carries")
    if _core.ordered():
        raise error("unsupported", f"{name}: within nl.no_reorder; put the no_reorder block inside "
                    "the loop's body")


def _turns(name, start, stop, step):
    """The induction registers of a loop, one a turn, which the kernel cannot write."""
    _check_loop(name, step)
    for value in range(_bound(name, "start", start), _bound(name, "stop", stop), step):
        register = _core.new_register(False)
        isa.register_move(register, value)
        _core.freeze(register, True)
        yield register


def dynamic_range(start, stop=None, step=1):
    """A loop that the chip runs: bounds may be registers, the loop variable is one."""
    warnings.warn("nl.dynamic_range will go; write nl.fori_loop", DeprecationWarning, stacklevel=2)
    return _turns("dynamic_range", *((0, start) if stop is None else (start, stop)), step)


def fori_loop(lower, upper, body_fun, step=1):
    """body_fun(i) for i from lower to upper, which may be registers; i is one."""
    for register in _turns("fori_loop", lower, upper, step):
        body_fun(register)


def while_loop(init, body_fun):
    """r = init; while r is not 0: r = body_fun(r). r is a register."""
    register = init
    while True:
        if not isinstance(register, _core.VirtualRegister):
            raise error("argument", f"while_loop: the condition is {describe(register)}; "
                        "expected a register: of nisa.register_alloc as init, returned by the body "
                        "afterwards")
        _check_loop("while_loop", 1)
        if _core.read_register(register) == 0:
            return
        given = isa.register_alloc()
        isa.register_move(given, register)  # the body gets a copy
        register = body_fun(given)


class no_reorder:
    """with nl.no_reorder(): the instructions within run in the order they are written."""

    def __enter__(self):
        _core.begin_ordered()
        return self

    def __exit__(self, *_):
        _core.end_ordered()
        return False
