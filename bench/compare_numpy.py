#!/usr/bin/python3
"""Kernels with values on the simulated core beside the same kernels run instruction by instruction in NumPy
(peers/numpy_nki.py), turn by turn on one thread. Prints JSON for bench/write_performance.py; fails when the two do not
give the same results.

    bench/compare_numpy.py [--build build/release] [--rounds 5] [--blas LIBRARY] [NAME …]

NumPy's products are only as fast as its BLAS: --blas puts another library (libopenblas.so.0) in its place.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE.parent / "kernels"
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parent / "build" / "release")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--blas", help="a library that comes before NumPy's own BLAS")
    parser.add_argument("names", nargs="*", metavar="NAME", help="kernels to run (default: all)")
    return parser.parse_args()


def restart_with(environment):
    """Libraries read these at their start."""
    if any(os.environ.get(name) != value for name, value in environment.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **environment})


o = options()
restart_with({**ONE_THREAD, **({"LD_PRELOAD": o.blas} if o.blas else {})})
sys.path[:0] = [str(o.build / "python"), str(HERE), str(KERNELS)]

import nki.dtype  # noqa: E402
import numpy as np  # noqa: E402
from nki import _file  # noqa: E402
from peers import numpy_nki  # noqa: E402

BF16 = nki.dtype.to_numpy("bfloat16")
RANDOM = np.random.default_rng(0)


def normal(*shape, dtype=BF16):
    return RANDOM.standard_normal(shape, dtype=np.float32).astype(dtype)


def positive(*shape):
    return np.abs(normal(*shape, dtype=np.float32))


# Name: file, kernel, its arguments, largest difference allowed as a share of the largest value.
CASES = {
    "matmul, bf16": ("matmul.py", "matmul_blocked", lambda: (normal(1024, 512), normal(1024, 1024)), 2**-7),
    "matmul, fp32": ("matmul.py", "matmul_blocked",
                     lambda: (normal(1024, 512, dtype=np.float32), normal(1024, 1024, dtype=np.float32)), 1e-5),
    "rmsnorm": ("rmsnorm.py", "rmsnorm", lambda: (normal(1024, 1024), normal(1, 1024, dtype=np.float32)), 2**-7),
    "softmax": ("softmax.py", "softmax", lambda: (normal(1024, 2048),), 2**-7),
    "cross_entropy": ("cross_entropy.py", "softcap_cross_entropy",
                      lambda: (normal(640, 256), (0.03 * normal(640, 4096, dtype=np.float32)).astype(BF16),
                               RANDOM.integers(0, 4096, (256, 1)).astype(np.int32)), 1e-5),
    "adamw": ("adamw.py", "adamw", lambda: (*(normal(128, 16384, dtype=np.float32) for _ in range(3)),
                                            positive(128, 16384)), 1e-5),
}


def kernels(file, name):
    """The kernel on the simulator and on the peer."""
    path = KERNELS / file
    ours = getattr(_file.load(str(path)), name)
    siblings = [other.stem for other in KERNELS.glob("*.py")]
    with numpy_nki.installed(siblings):
        namespace = {}
        exec(compile(path.read_text(), str(path), "exec"), namespace)
    return ours, namespace[name]


def timed(kernel, arguments):
    """Processor seconds: they hold on a machine that does other work too."""
    start = time.process_time()
    result = kernel(*arguments)
    return time.process_time() - start, result if isinstance(result, tuple) else (result,)


def difference(results, expected):
    """The largest, as a share of the largest value."""
    shares = []
    for result, other in zip(results, expected):
        result, other = (np.asarray(x, dtype=np.float32) for x in (result, other))
        shares.append(float(np.abs(result - other).max() / np.abs(other).max()))
    return max(shares)


def compare(name):
    file, function, make, most = CASES[name]
    sides, arguments = kernels(file, function), make()
    results = [timed(kernel, arguments)[1] for kernel in sides]  # warm
    share = difference(*results)
    if not share <= most:
        sys.exit(f"{name}: results differ by {share:.3g} of the largest value; at most {most:.3g} expected")
    seconds = [[], []]
    for _ in range(o.rounds):
        for side, kernel in enumerate(sides):
            seconds[side].append(timed(kernel, arguments)[0])
    ours, numpy = (statistics.median(times) for times in seconds)
    shapes = ", ".join("x".join(map(str, a.shape)) for a in arguments)
    return {"kernel": name, "arguments": shapes, "ms": 1e3 * ours, "NumPy ms": 1e3 * numpy,
            "ratio": round(numpy / ours, 1), "difference": float(f"{share:.1g}")}


def main():
    rows = [compare(name) for name in o.names or CASES]
    blas = sorted({line.split()[-1] for line in open("/proc/self/maps", encoding="utf-8") if "blas" in line})
    notes = [f"NumPy {np.__version__} on {', '.join(os.path.basename(path) for path in blas)}, one thread; medians of "
             f"{o.rounds} turns, in processor time. *difference* is the largest, as a share of the largest value."]
    print(json.dumps({"rows": rows, "notes": notes}, indent=1))


if __name__ == "__main__":
    main()
