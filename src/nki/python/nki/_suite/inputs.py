"""Argument arrays as an --expect file describes them, and comparing results with references."""
import inspect

import numpy as np

from nki import _arrays, _core, dtype, language
from nki._suite.outcome import WrongValue

# What rounding explains, as `windtunnel kernel check` has it: relative to the element, and to the largest one.
_LOW = (0.25, 0.01)
_TOLERANCES = {"float32": (1e-4, 2e-6), "float16": (2e-3, 2e-4), "bfloat16": (1e-2, 1e-3), "float8_e4m3": _LOW,
               "float8_e4m3fn": _LOW, "float8_e5m2": _LOW}


def arguments_of(entry, find):
    """{name: value} of an entry's `args` and of its function `inputs`, which gets the seed."""
    seed = entry.get("seed", 0)
    values = dict(find(entry["inputs"])(seed)) if "inputs" in entry else {}
    generator = np.random.default_rng(seed)
    for arg in entry.get("args", []):
        values[arg["name"]] = _argument(arg, generator)
    return values


def _argument(arg, generator):
    if "shape" in arg:
        return _array(arg, generator).astype(dtype.to_numpy(arg.get("dtype", "float32")))
    value = arg.get("value")
    return getattr(language, value[3:]) if isinstance(value, str) and value.startswith("nl.") else value


def _array(arg, generator):
    shape, make = tuple(arg["shape"]), arg.get("make", "normal")
    low, high = arg.get("low", 0), arg.get("high", 1)
    makers = {"normal": lambda: generator.standard_normal(shape) * arg.get("scale", 1.0),
              "uniform": lambda: generator.uniform(low, high, shape),
              "integers": lambda: generator.integers(low, high, shape),
              "permutation": lambda: generator.permutation(int(np.prod(shape))).reshape(shape) + low,
              "zeros": lambda: np.zeros(shape), "ones": lambda: np.ones(shape),
              "count": lambda: np.arange(np.prod(shape)).reshape(shape) + low}
    if make not in makers:
        raise ValueError(f"argument {arg['name']}: make = {make}; expected one of {', '.join(makers)}")
    return makers[make]()


def accepted(function, values):
    """Those arguments that the function has parameters for."""
    parameters = inspect.signature(function).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return values
    return {name: value for name, value in values.items() if name in parameters}


def copies(values):
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in values.items()}


def compare(result, expected, entry):
    """Raises WrongValue unless all arrays of a result are those of the reference."""
    results, references = _flat(result), _flat(expected)
    if len(results) != len(references):
        raise WrongValue(f"{len(results)} results; the reference has {len(references)}")
    for i, (got, want) in enumerate(zip(results, references)):
        _compare_one(got, np.asarray(want), entry, "the result" if len(results) == 1 else f"result {i}")


def _flat(value):
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in _flat(item)]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _flat(item)]
    if isinstance(value, _core.HostArray):
        return [_arrays.to_numpy(value)]
    return [] if value is None else [np.asarray(value)]


def _compare_one(got, want, entry, what):
    if got.shape != want.shape:
        raise WrongValue(f"{what} has shape {got.shape}; the reference {want.shape}")
    relative, of_largest = _TOLERANCES.get(got.dtype.name, (0, 0))
    got, want = got.astype(np.float64), want.astype(np.float64)
    finite = want[np.isfinite(want)]
    absolute = entry.get("atol", of_largest * float(np.abs(finite).max()) if finite.size else 0)
    wrong = ~np.isclose(got, want, rtol=entry.get("rtol", relative), atol=absolute, equal_nan=True)
    if wrong.sum() <= entry.get("share", 0) * wrong.size:
        return
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    raise WrongValue(f"{what}: {int(wrong.sum())} of {wrong.size} elements differ; the first is {list(first)}: "
                     f"{got[first]:.7g} instead of {want[first]:.7g}")
