"""Which core of the launch grid runs this: kernel[2] starts two."""
from nki import _core
from nki._errors import error


def _check_axis(name, axis):
    if axis != 0:
        raise error("argument", f"{name}: axis {axis!r}; expected 0, as launch grids have one axis: the "
                    "cores of a logical core")


def program_id(axis=0):
    """This core's index in the grid, 0 without one."""
    _check_axis("program_id", axis)
    return _core.rank()


def num_programs(axes=0):
    """The number of cores that run the kernel."""
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        _check_axis("num_programs", 0 if axis is None else axis)
    return _core.cores()


def program_ndim():
    """1 when the kernel runs on several cores, else 0."""
    return 1 if _core.cores() > 1 else 0
