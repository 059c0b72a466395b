"""One launch of a kernel of the older generation: the programs of its grid, one after the other on each core."""
import itertools
import math
import os
import re

from nki import _core, _run
from neuronxcc.nki._errors import error, refusal
from neuronxcc.nki._parameters import check_returned, protect
from neuronxcc.nki._pending import flush, state
from neuronxcc.nki._tensor import Tensor
from neuronxcc.nki.language.grid import as_dimension


TOOLCHAIN = "neuronx-cc-2"  # that compiles kernels of this generation: a file in data/toolchains
_RETURNING = ("auto", "simulation", "simulate", "torchxla", "jax")  # modes in which results are returned


class Run:
    """What the calls of a kernel on one core share."""

    def __init__(self, grid, keeps_float32=False):
        # Results of instructions that ask for bfloat16 stay float32, as in this generation's simulator, whose arrays had
        # no bfloat16. Tensors that are declared have their type.
        self.keeps_float32 = keeps_float32
        self.grid = tuple(dimension.size for dimension in grid)
        self.program = ()
        self.tensors = []  # of HBM, in the order in which the first program declared them
        self.declared = 0
        self.allocates = False  # whether it places tiles itself
        self.repeats = 0  # loops around that are past their first trip
        self.places = {}  # addresses by the place in the text that declares them

    def begin(self, program):
        self.program = program
        self.declared = 0

    def hbm(self, shape, dtype, buffer, name):
        """A tensor in HBM: programs of a grid share those that they declare at the same place."""
        number = self.declared
        self.declared += 1
        if number < len(self.tensors) and self.tensors[number].shape == tuple(shape):
            return self.tensors[number]
        tensor = Tensor(_core.ndarray(shape, dtype, buffer, name))
        self.tensors[number:] = [tensor]
        return tensor


def _wrap(value):
    """The simulator's tensors as kernels of this generation hold them."""
    if isinstance(value, _core.NkiTensor):
        return Tensor(value)
    if type(value) in (tuple, list):
        return type(value)(_wrap(item) for item in value)
    if type(value) is dict:
        return {key: _wrap(item) for key, item in value.items()}
    return value


def _unwrap(value):
    if isinstance(value, Tensor):
        return _in_hbm(value)
    if type(value) in (tuple, list):
        return type(value)(_unwrap(item) for item in value)
    if type(value) is dict:
        return {key: _unwrap(item) for key, item in value.items()}
    return value


def _in_hbm(tensor):
    """A returned tensor; a tile leaves by way of a new tensor in HBM."""
    core = tensor.read()
    if core.buffer.name not in ("sbuf", "psum"):
        return core
    out = _core.ndarray(core.shape, core.dtype, _shared_hbm())
    if core.buffer.name == "psum":
        from nki.language._tiles import copy_to_sbuf
        core = copy_to_sbuf(core)
    _core.INSTRUCTIONS["dma_copy"](out, core)
    return out


def _shared_hbm():
    from nki.language.memory import shared_hbm
    return shared_hbm


def programs(grid, core, cores):
    """The programs that run on a core, in order."""
    for program in itertools.product(*(range(dimension.size) for dimension in grid)):
        if cores == 1 or sum(dimension.core_of(i) for dimension, i in zip(grid, program)) == core:
            yield program


def body(function, grid, mode="auto"):
    """The kernel as a function of the simulator's tensors, for nki._run.execute and the windtunnel program."""
    def run(*args, **kwargs):
        launch = Run(grid, keeps_float32=mode in ("simulation", "simulate"))
        outer, state.run, state.waiting = state.run, launch, None
        args, kwargs = _wrap(args), _wrap(kwargs)
        returns = mode in _RETURNING
        writable = protect(function, args, kwargs, Tensor) if returns else {}
        result = None
        try:
            for program in programs(grid, _core.rank(), _core.cores()):
                launch.begin(program)
                result = function(*args, **kwargs)
                flush()
            check_returned(writable, result)
            return _unwrap(result)
        finally:
            state.run, state.waiting = outer, None
    return run


def _dimensions(grid):
    """The grid's dimensions, and on how many cores its programs run."""
    grid = [as_dimension(item) for item in grid]
    if len(grid) > 3:
        raise refusal("err_exceed_max_supported_dimension", f"a launch grid of {len(grid)} dimensions; expected at most 3")
    return grid, math.prod(dimension.cores for dimension in grid)


def options():
    """How to simulate: as the environment says (nki/_run.py), where it is silent as this generation's simulator did.

    A mask leaves elements unwritten that later instructions read all the same, so that they are NaN instead of an error.
    """
    chosen = _run.options_from_environment()
    chosen["check_uninitialized"] = os.environ.get("NKI_CHECK_UNINITIALIZED", "0") == "1"
    return chosen


def _sessions(cores):
    sessions = []
    for rank in range(cores):
        sessions.append(_core.Session(rank=rank, cores=cores, peer=sessions[0] if sessions else None, grid=cores > 1,
                                      **options()))
    return sessions


def _index_error(refused):
    """What NumPy would say of an index that is known only at run time and leaves its tensor."""
    there = re.search(r"elements (-?\d+) to (-?\d+) of (\d+)", str(refused))
    if there is None:
        return IndexError(str(refused))
    first, _, size = map(int, there.groups())
    return IndexError(f"index {first if not 0 <= first < size else size} is out of bounds for axis 0 with size {size}")


def _execute(function, args, kwargs, sessions, written=None):
    """nki._run.execute, with refusals as this generation has them."""
    try:
        return _run.execute(function, args, kwargs, sessions, written=written, toolchain=TOOLCHAIN)
    except _core.NkiError as refused:
        if refused.error_class == "uninitialized" and "the kernel returns" in str(refused):
            raise refusal("err_tensor_output_not_written_to", str(refused)) from None
        if refused.error_class == "out-of-bounds" and "err_" not in str(refused):
            raise _index_error(refused) from refused
        raise


def launch(function, args, kwargs, grid=(), mode="auto"):
    """Runs a kernel with NumPy arrays or tensors of PyTorch and gives what it returns."""
    grid, cores = _dimensions(grid)
    return _execute(body(function, grid, mode), args, kwargs, _sessions(cores))


def launch_on(sessions, function, kwargs, grid, mode, written):
    """launch for the windtunnel program: on its sessions, one a core. `written`: as nki._run.execute's."""
    grid, cores = _dimensions(grid)
    if cores != len(sessions):
        raise error("argument", f"a launch grid that runs on {cores} of the {len(sessions)} cores of --lnc; expected nc2 as a "
                    "factor of one dimension with --lnc 2 (--grid nc2*4), and none without")
    return _execute(body(function, grid, mode), (), kwargs, sessions, written)


def launch_timed(function, args, kwargs, grid, mode):
    """launch, and how many nanoseconds the kernel takes on the chip as the tool chain compiles it."""
    grid, cores = _dimensions(grid)
    sessions = _sessions(cores)
    for session in sessions:
        session.record()
    result = _execute(body(function, grid, mode), args, kwargs, sessions)
    return result, max(_core.predict(sessions, TOOLCHAIN))
