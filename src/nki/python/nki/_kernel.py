"""nki.jit and nki.simulate: functions as kernels that can be called."""
import functools

from nki import _core, _run


class Kernel:
    """A kernel: kernel(...) runs it on one core, kernel[2](...) on the two cores of a logical core.

    Inside another kernel a call is an ordinary call: its instructions become part of that kernel.
    """

    toolchain = "nki-0.6"  # that kernels of this generation are compiled by: a file in data/toolchains

    def __init__(self, function, cores=None, schedule=None):
        functools.update_wrapper(self, function)
        self.function = function
        self.cores = cores
        self.schedule = dict(schedule or {})

    def __getitem__(self, cores):
        return Kernel(self.function, _check_cores(cores), self.schedule)

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return Kernel(functools.partial(self.function, instance), self.cores, self.schedule)

    def body(self):
        """The function that runs on the simulator's own tensors."""
        return self.function

    def checks_uninitialized(self):
        """Whether the windtunnel program refuses to read what nothing has written."""
        return True

    def execute(self, kwargs, sessions, written, grid):
        """One run on sessions that the windtunnel program made, one a core; `grid` as its --grid has it."""
        if grid:
            _core.raise_error("argument", f"--grid {grid}: {self!r} is of the generation of kernels without launch grids; "
                                          "expected --lnc 2 for kernel[2](…), or a kernel of neuronxcc.nki")
        return _run.execute(self.body(), (), kwargs, sessions, self.schedule, written)

    def with_schedule(self, edges):
        """The same kernel with edges (consumer, producer or list of producers), by instructions' names."""
        schedule = {name: list(producers) for name, producers in self.schedule.items()}
        for edge in edges:
            consumer, producers = _check_edge(edge)
            schedule.setdefault(consumer, []).extend(producers)
        return Kernel(self.function, self.cores, schedule)

    def __call__(self, *args, **kwargs):
        if _core.running():
            return self.function(*args, **kwargs)
        return _run.simulate(self.function, args, kwargs, cores=self.cores, schedule=self.schedule)

    def __repr__(self):
        return f"<nki kernel {getattr(self.function, '__name__', self.function)!s}>"


def _check_cores(cores):
    if isinstance(cores, tuple) and len(cores) == 1:
        cores = cores[0]
    if isinstance(cores, bool) or not isinstance(cores, int) or cores not in (1, 2):
        _core.raise_error("argument", f"kernel[{cores!r}]: expected kernel[1] or kernel[2], the cores of a logical core")
    return cores


def _check_edge(edge):
    try:
        consumer, producers = edge
    except (TypeError, ValueError):
        consumer = None
    if not isinstance(consumer, str):
        _core.raise_error("argument", f"with_schedule: {edge!r} is no edge; expected (consumer, producer or list of producers)")
    return consumer, [producers] if isinstance(producers, str) else list(producers)


def jit(function=None, **options):
    """Decorator that makes a kernel of a function. Options of other tool chains (mode, platform_target) are ignored."""
    if function is None:
        return lambda inner: jit(inner, **options)
    if isinstance(function, Kernel):
        return function
    if not callable(function):
        _core.raise_error("argument", f"nki.jit: {function!r} is no function")
    return Kernel(function)


def simulate(kernel):
    """The kernel as a function of NumPy arrays or PyTorch tensors, run on the simulator."""
    return jit(kernel)
