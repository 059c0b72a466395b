"""One run of a kernel: arguments in, instructions issued, results out."""
import os
import threading
import warnings

from nki import _arrays, _core


class NkiWarning(UserWarning):
    """Something that the simulator accepts and hardware or the official tool chain may not."""


# Told of every kernel's sessions, before and after it ran (nki/_suite).
watch = None


def options_from_environment():
    """What the environment says about simulation, as arguments of _core.Session. NEURON_PLATFORM_TARGET_OVERRIDE, the
    chip, is read there.

    NKI_PRECISE_FP=0            low-precision floats keep float32's precision
    NKI_CHECK_UNINITIALIZED=0   reading what nothing has written gives NaN (all bits set) instead of an error
    NKI_CHECK_RANGES=0          activations outside their documented range give what mathematics says, not an error
    NKI_MAX_INSTRUCTIONS=n      a kernel that issues more is stopped
    """
    return {"precise_fp": os.environ.get("NKI_PRECISE_FP", "1") != "0",
            "check_uninitialized": os.environ.get("NKI_CHECK_UNINITIALIZED", "1") != "0",
            "check_ranges": os.environ.get("NKI_CHECK_RANGES", "1") != "0",
            "max_instructions": _natural("NKI_MAX_INSTRUCTIONS")}


def _natural(name):
    text = os.environ.get(name) or "0"
    if not text.isdecimal():
        _core.raise_error("argument", f"{name}={text}: expected a natural number")
    return int(text)


def simulate(function, args, kwargs, cores=None, schedule=None):
    """Runs a kernel as the environment says; `cores` None: no grid."""
    sessions = []
    for rank in range(cores or 1):
        sessions.append(_core.Session(rank=rank, cores=cores or 1, peer=sessions[0] if sessions else None,
                                      grid=cores is not None, **options_from_environment()))
    return execute(function, args, kwargs, sessions, schedule)


def execute(function, args, kwargs, sessions, schedule=None, written=None, toolchain="nki-0.6"):
    """Runs the kernel on the given sessions, one a core, and gives what it returns, tensors as host arrays.

    `written`, a dict, gets the arguments that the kernel wrote into, by name, when they are HostArrays. `toolchain`:
    by which it is compiled for the chip.
    """
    runs = [_CoreRun(function, args, kwargs, session, schedule) for session in sessions]
    if watch is not None:
        watch.begin(sessions)
    try:
        if len(runs) == 1:
            runs[0].run()
        else:
            _run_together(runs)
        for run in runs:
            if run.error is not None and not run.session.cancelled:
                raise run.error
        for run in runs:
            if run.error is not None:
                raise run.error
        return runs[0].results(runs, written)
    finally:
        shapes = [list(tensor.shape) for _, _, tensor in runs[0].inputs]
        for run in runs:
            run.close()
        if watch is not None:
            watch.end(sessions, toolchain, shapes)


def _run_together(runs):
    """The cores of a logical core, each on a thread of its own; they take turns (chip/hbm.h)."""
    threads = [threading.Thread(target=run.run_until_error, args=(runs,), name=f"nki core {i}")
               for i, run in enumerate(runs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class _CoreRun:
    """A kernel on one core."""

    def __init__(self, function, args, kwargs, session, schedule):
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.session = session
        self.schedule = schedule or {}
        self.inputs = []  # (name, host array, tensor)
        self.returned = None
        self.error = None

    def run(self):
        with self.session:
            self._issue()

    def run_until_error(self, runs):
        """Keeps the exception for the thread that called the kernel; the other core's calls fail from then on."""
        with self.session:
            try:
                self._issue()
            except BaseException as error:
                self.error = error
                if not self.session.cancelled:
                    for run in runs:
                        if run is not self:
                            run.session.cancel()

    def _issue(self):
        self.session.set_schedule(self.schedule)
        args = [self._take(value, f"argument {i}") for i, value in enumerate(self.args)]
        kwargs = {name: self._take(value, name) for name, value in self.kwargs.items()}
        self.returned = self.function(*args, **kwargs)
        self.session.check_schedule()

    def close(self):
        self.session.close()
        self.inputs = []
        self.returned = None

    def _take(self, value, name):
        """An argument as the kernel sees it: arrays become HBM tensors, everything else stays as it is."""
        if type(value) is tuple or type(value) is list:
            items = [self._take(item, f"{name}[{i}]") for i, item in enumerate(value)]
            same = all(new is old for new, old in zip(items, value))
            return value if same else type(value)(items)
        if type(value) is dict:
            items = {key: self._take(item, f"{name}[{key!r}]") for key, item in value.items()}
            return value if all(items[key] is value[key] for key in value) else items
        host = _arrays.describe(value, name)
        if host is None:
            return value
        tensor = self.session.input(host.shape, host.dtype, host.data() if self.session.values else None, name)
        self.inputs.append((name, value, tensor))
        return tensor

    def results(self, runs, written=None):
        """What the kernel returned, on the host; what it wrote into its arguments is in them."""
        like = next((value for _, value, _ in self.inputs), None)
        for i, (name, value, tensor) in enumerate(self.inputs):
            if not any(run.session.was_written(run.inputs[i][2]) for run in runs):
                continue
            array, _ = self.session.fetch(tensor)
            if isinstance(value, _core.HostArray):
                if written is not None:
                    written[name] = array
            elif self.session.values:
                _arrays.write_back(value, array)
        return self._give(self.returned, like)

    def _give(self, value, like):
        if type(value) is tuple or type(value) is list:
            return type(value)(self._give(item, like) for item in value)
        if type(value) is dict:
            return {key: self._give(item, like) for key, item in value.items()}
        if not isinstance(value, _core.NkiTensor):
            return value
        if value.buffer.name not in ("shared_hbm", "private_hbm"):
            _core.raise_error("memory", f"the kernel returns {value!r}; expected a tensor in nl.shared_hbm: copy it "
                                        "there with nisa.dma_copy")
        array, unwritten = self.session.fetch(value)
        if unwritten == value.size and self.session.values:
            _core.raise_error("uninitialized", f"the kernel returns {value!r}, and nothing has written it")
        if unwritten:
            warnings.warn(f"the kernel returns {value!r}, of which nothing has written {unwritten} elements; they are "
                          "filled with ones bits (NaN)", NkiWarning, stacklevel=4)
        return _arrays.give(array, like)
