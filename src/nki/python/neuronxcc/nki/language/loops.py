"""Loops. The kernel issues every trip's instructions; the scheduler finds the loops again by the places in the text."""
from neuronxcc.nki._errors import describe, error, refusal
from neuronxcc.nki._pending import state


class LoopIndex(int):
    """The variable of a loop that does not begin at 0; nl.loop_reduce asks for its first trip."""

    first = False


def _trips(name, start, stop, step):
    from neuronxcc.nki._tensor import Tensor
    if any(isinstance(value, Tensor) for value in (start, stop, step)):
        raise refusal("err_dynamic_control_flow_not_supported", f"{name}: a bound is a tile, whose value is known only when "
                      "the kernel runs; expected integers")
    try:
        values = range(start) if stop is None else range(start, stop, step)
    except TypeError:
        raise error("argument", f"{name}: bounds {describe(start)}, {describe(stop)}, step {describe(step)}; expected "
                    "integers") from None
    return values


def _traced(values):
    """The trips of a loop that the older tool chain reads once, whatever its trip count.

    What a declaration in it computes, such as an address, is that of the first trip (creation.py).
    """
    run = state.run
    repeats = False
    try:
        for value in values:
            if values.start == 0:
                yield value
            else:
                trip = LoopIndex(value)
                trip.first = value == values.start
                yield trip
            if not repeats and run is not None:
                repeats = True
                run.repeats += 1
    finally:
        if repeats:
            run.repeats -= 1


def affine_range(start, stop=None, step=1, **_):
    """A loop whose trips do not depend on one another."""
    return _traced(_trips("affine_range", start, stop, step))


def sequential_range(start, stop=None, step=1, **_):
    """A loop whose trips run in order."""
    return _traced(_trips("sequential_range", start, stop, step))


def static_range(start, stop=None, step=1):
    """A loop that the compiler unrolls."""
    return _trips("static_range", start, stop, step)


def is_first_trip(index):
    """Whether a loop is in its first trip."""
    return index.first if isinstance(index, LoopIndex) else index == 0


def program_id(axis):
    """This program's place along an axis of the launch grid."""
    run = state.run
    grid = run.program if run is not None else ()
    if not isinstance(axis, int) or axis < 0 or axis >= max(len(grid), 1):
        raise error("argument", f"program_id: axis {axis!r} of a launch grid of {len(grid)} dimensions; "
                    "expected kernel[…](…) with as many as the kernel asks for (windtunnel kernel: --grid 4,2)")
    return grid[axis] if grid else 0


def num_programs(axes=None):
    """The size of the launch grid along some axes, of all of it without."""
    grid = state.run.grid if state.run is not None else ()
    chosen = range(len(grid)) if axes is None else axes if isinstance(axes, (tuple, list)) else (axes,)
    count = 1
    for axis in chosen:
        if axis >= max(len(grid), 1):
            raise error("argument", f"num_programs: axis {axis!r} of a launch grid of {len(grid)} dimensions; "
                        "expected kernel[…](…) with as many as the kernel asks for (windtunnel kernel: --grid 4,2)")
        count *= grid[axis] if grid else 1
    return count


def program_ndim():
    """The number of dimensions of the launch grid."""
    return len(state.run.grid) if state.run is not None else 0
