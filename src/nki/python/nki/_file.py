"""Kernels and references from files, for the windtunnel program (src/nki/run_kernel.h)."""
import ast
import difflib
import importlib.util
import inspect
import os
import sys

from nki import _arrays, _core
from nki._kernel import Kernel


def find_kernel(file, function):
    """The Kernel of that name; of a function that is not decorated, in the generation that its file imports."""
    module = load(file)
    kernel = find(module, file, function, kernels_only=not function)
    return kernel if isinstance(kernel, Kernel) else _kernel_type(module)(kernel)


def run_kernel(kernel, args, sessions, grid):
    """[(name, HostArray)] of a kernel's outputs, then of the arguments that it wrote into."""
    kwargs = {name: _value(value) for name, value in args}
    written = {}
    result = kernel.execute(kwargs, sessions, written, grid)
    sys.stdout.flush()
    return _named("out", result) + list(written.items())


def _kernel_type(module):
    for value in vars(module).values():
        if str(getattr(value, "__name__", "")).startswith("neuronxcc.nki"):
            from neuronxcc.nki import Kernel as OlderKernel
            return OlderKernel
    return Kernel


def run_function(file, function, args):
    """[(name, HostArray)] of what a plain function gives for the same arguments as NumPy arrays."""
    called = find(load(file), file, function)
    called = called.function if isinstance(called, Kernel) else called
    kwargs = {name: _numpy(_value(value)) for name, value in args if _accepts(called, name)}
    result = called(**kwargs)
    sys.stdout.flush()
    return _named("out", _host(result))


def _accepts(function, name):
    """Whether a reference takes this argument of the kernel: those of its schedule it need not know."""
    parameters = inspect.signature(function).parameters
    return name in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def load(file):
    """The module of a file; files beside it can be imported, as when Python runs it."""
    path = os.path.abspath(file)
    name = os.path.splitext(os.path.basename(path))[0]
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) != path:
        name = f"{name}_kernel"
    folder = os.path.dirname(path)
    if folder not in sys.path:
        sys.path.insert(1, folder)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def find(module, file, function, kernels_only=False):
    """The function of that name; with none given, the file's only kernel."""
    kernels = [name for name, value in vars(module).items() if isinstance(value, Kernel)]
    if kernels_only:
        if len(kernels) != 1:
            _core.raise_error("argument", f"{file} has {len(kernels)} kernels; name one: "
                                          f"{file}:{kernels[0] if kernels else 'KERNEL'}" +
                              (f" (there are {', '.join(kernels)})" if kernels else ""))
        return getattr(module, kernels[0])
    value = getattr(module, function, None)
    if callable(value):
        return value
    names = [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]
    near = difflib.get_close_matches(function, names, 1)
    there = f"did you mean {near[0]}?" if near else f"there are {', '.join(kernels or names) or 'no functions'}"
    _core.raise_error("argument", f"{file} has no function {function}; {there}")


def _value(value):
    """Text of a command line as a Python value: a literal, an nl.NAME, or itself."""
    if not isinstance(value, str):
        return value
    if value.startswith("nl."):
        from nki import language
        return getattr(language, value[3:], value)
    try:
        return ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value


def _numpy(value):
    return _arrays.to_numpy(value) if isinstance(value, _core.HostArray) else value


def _host(value):
    """NumPy arrays of a result as HostArrays."""
    if isinstance(value, (tuple, list)):
        return tuple(_host(item) for item in value)
    host = _arrays.describe(value, "out")
    return value if host is None else _core.host_array(host.shape, host.dtype, host.data())


def _named(name, value):
    if isinstance(value, _core.HostArray):
        return [(name, value)]
    if isinstance(value, (tuple, list)):
        return [pair for i, item in enumerate(value) for pair in _named(f"{name}[{i}]", item)]
    if isinstance(value, dict):
        return [pair for key, item in value.items() for pair in _named(f"{name}[{key!r}]", item)]
    return []
