"""A kernel that an --expect file describes, or that says itself what its arguments are; and scripts."""
import inspect
import os
import runpy
import sys

from nki import _core, _run
from nki._kernel import Kernel
from nki._suite import inputs, load
from nki._suite.outcome import Incomplete

_REFERENCES = ("{}_reference", "{}_ref", "{}_golden", "{}_numpy", "{}_np", "reference_{}", "ref_{}", "numpy_{}", "np_{}",
               "golden_{}")


def run_script(request, emit):
    """A file as `python FILE` would run it."""
    path = os.path.join(request["root"], request["file"])
    sys.path.insert(0, os.path.dirname(path))
    sys.argv = [path]
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raise Incomplete("failed", f"it exits with {end.code}") from None
    emit("", "passed" if request["checks"] else "ran", "")


def run_kernel(request, emit):
    root, entry = request["root"], request["entry"]
    module = load.module_of(root, request["file"])
    kernel = load.function_of(entry.get("kernel", request["name"]), root, request["expect_folder"], module)

    def find(text):
        return load.function_of(text, root, request["expect_folder"], module)

    if "args" in entry or "inputs" in entry:
        values = inputs.arguments_of(entry, find)
        reference = find(entry["reference"]) if "reference" in entry else None
    else:
        values, reference = _from_annotations(kernel), _reference_of(module, kernel)
    if not entry.get("values", True):
        _time(kernel, values, entry.get("cores", 1))
        emit("", "ran", "")
        return
    before = inputs.copies(values)
    cores = entry.get("cores")
    result = (kernel[cores] if cores else kernel)(**values)
    if "check" in entry:
        find(entry["check"])(result, before, values)
    elif reference is not None:
        inputs.compare(result, reference(**inputs.accepted(reference, before)), entry)
    emit("", "passed" if "check" in entry or reference is not None else "ran", "")


def _time(kernel, values, cores):
    """Issues a kernel's instructions without computing anything; nki._run.watch times them."""
    sessions = []
    for rank in range(cores):
        sessions.append(_core.Session(rank=rank, cores=cores, peer=sessions[0] if sessions else None, values=False))
    older = type(kernel).__module__.startswith("neuronxcc")
    _run.execute(kernel.body(), (), values, sessions, toolchain="neuronx-cc-2" if older else "nki-0.6")


def _from_annotations(kernel):
    """Random arguments of a kernel whose parameters are all annotated nt.tensor[shape] or have a value."""
    function = kernel.function if isinstance(kernel, Kernel) else kernel
    described = []
    for name, parameter in inspect.signature(function).parameters.items():
        shape = getattr(parameter.annotation, "shape", None)
        if isinstance(shape, tuple) and shape and all(isinstance(n, int) for n in shape):
            described.append({"name": name, "shape": shape, "dtype": getattr(parameter.annotation, "dtype", None) or "float32"})
        elif parameter.default is inspect.Parameter.empty:
            raise Incomplete("undescribed", "")
    return inputs.arguments_of({"args": described}, None)


def _reference_of(module, kernel):
    name = kernel.__name__
    for pattern in _REFERENCES:
        for base in (name, name.removesuffix("_kernel"), name.removeprefix("nki_").removesuffix("_")):
            if callable(found := getattr(module, pattern.format(base), None)):
                return found
    return None
