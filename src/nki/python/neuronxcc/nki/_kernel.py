"""nki.jit and its relatives: functions as kernels that can be called."""
import functools

from nki import _core
from nki._kernel import Kernel as _Kernel
from neuronxcc.nki import _run
from neuronxcc.nki._errors import error, refusal
from neuronxcc.nki.language.grid import nc, parse_grid

_MODES = ("auto", "simulation", "simulate", "torchxla", "jax", "baremetal", "benchmark", "profile", "trace")


class Kernel(_Kernel):
    """A kernel: kernel(…) runs it, kernel[4, 2](…) as the programs of a launch grid.

    Within another kernel a call is an ordinary call: its instructions become part of that kernel.
    """

    toolchain = _run.TOOLCHAIN

    def __init__(self, function, grid=(), mode="auto"):
        super().__init__(function)
        self.grid = grid
        self.mode = mode

    def __getitem__(self, grid):
        return type(self)(self.function, grid if isinstance(grid, tuple) else (grid,), self.mode)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return type(self)(functools.partial(self.function, instance), self.grid, self.mode)

    def body(self):
        """The function that runs on the simulator's own tensors."""
        return _run.body(self.function, [_run.as_dimension(item) for item in self.grid], self.mode)

    def checks_uninitialized(self):
        return _run.options()["check_uninitialized"]

    def execute(self, kwargs, sessions, written, grid):
        """One run for the windtunnel program (nki/_kernel.py)."""
        dimensions = parse_grid(grid) if grid else self.grid or ((nc(2),) if len(sessions) == 2 else ())
        return _run.launch_on(sessions, self.function, kwargs, dimensions, self.mode, written)

    def __call__(self, *args, **kwargs):
        if _core.running():
            if self.grid:
                raise refusal("err_nested_kernel_with_spmd_grid", f"{self!r} called with a launch grid within a kernel; call it "
                              "without, it becomes part of that kernel")
            return self.function(*args, **kwargs)
        return _run.launch(self.function, args, kwargs, self.grid, self.mode)


def decorator(make):
    """A decorator that may be used with and without arguments."""
    def decorate(function=None, *args, **options):
        if function is None:
            return lambda inner: make(inner, *args, **options)
        return make(function, *args, **options)
    return decorate


def function_of(function):
    if isinstance(function, _Kernel):
        return function.function
    if not callable(function):
        raise error("argument", f"nki.jit: {function!r} is no function")
    return function


@decorator
def jit(function, mode="auto", **_):
    """Makes a kernel of a function. `mode` says by what a call runs it; here it is always the simulator."""
    if mode not in _MODES:
        raise error("argument", f"nki.jit: mode is {mode!r}; expected {', '.join(_MODES)}")
    if mode in ("benchmark", "profile"):
        from neuronxcc.nki._benchmark import benchmark
        return benchmark(function)
    return Kernel(function_of(function), mode=mode)


@decorator
def trace(function, **_):
    """Makes a kernel of a function whose results are among its arguments."""
    return Kernel(function_of(function), mode="trace")


@decorator
def baremetal(function, **_):
    """Makes a kernel of a function; a call runs it on the simulator."""
    grid = function.grid if isinstance(function, Kernel) else ()
    return Kernel(function_of(function), grid, mode="baremetal")


def simulate_kernel(kernel, *args, **kwargs):
    """Runs a kernel on the simulator; results that are arguments are written into."""
    kernel = kernel if isinstance(kernel, Kernel) else Kernel(function_of(kernel))
    return kernel(*args, **kwargs)
