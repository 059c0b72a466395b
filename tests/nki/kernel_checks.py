"""What the tests of kernels/ share: a kernel against the NumPy reference beside it, on random arguments."""
import importlib
import pathlib
import sys

import numpy as np

import nki
from nki import dtype as dtypes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kernels"))

TOLERANCES = {"bfloat16": 2e-2, "float32": 2e-4}  # relative to the reference's largest element, beside its own rounding


def normal(*shape, dtype="float32", seed=1, scale=1.0):
    values = scale * np.random.default_rng(seed).standard_normal(shape)
    return values.astype(np.float32).astype(dtypes.to_numpy(dtype))


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def check(test, module, kernel, tolerance=None, **arguments):
    """Fails `test` unless kernels/MODULE.py:KERNEL gives what KERNEL_reference gives for these arguments."""
    loaded = importlib.import_module(module)
    given = as_tuple(nki.simulate(getattr(loaded, kernel))(**arguments))
    wanted = as_tuple(getattr(loaded, kernel + "_reference")(**arguments))
    test.assertEqual(len(given), len(wanted))
    for i, (one, right) in enumerate(zip(given, wanted)):
        one, right = np.asarray(one), np.asarray(right)
        test.assertEqual((one.shape, one.dtype), (right.shape, right.dtype), f"output {i}")
        limit = tolerance or TOLERANCES[right.dtype.name]
        right = right.astype(np.float64)
        allowed = limit * (np.abs(right) + np.abs(right).max() / 8 + 1e-6)
        wrong = ~(np.abs(one.astype(np.float64) - right) <= allowed)
        test.assertFalse(wrong.any(), f"{module}.py:{kernel} output {i}: {wrong.sum()} of {wrong.size} elements are wrong, "
                                      f"the first at {tuple(np.argwhere(wrong)[0]) if wrong.any() else ()}")


def check_types(test, module, kernel, tensors, **more):
    """The same with random tensors (name: shape) in bfloat16 and in float32."""
    for dtype in ("bfloat16", "float32"):
        with test.subTest(kernel=kernel, tensors=tensors, dtype=dtype, more=list(more)):
            given = {name: normal(*shape, dtype=dtype, seed=i) for i, (name, shape) in enumerate(tensors.items())}
            check(test, module, kernel, **given, **more)
