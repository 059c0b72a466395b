"""Random legal operands for instructions, and running one instruction beside its NumPy twin.

A trial names what an instruction reads and writes, how it is called on views of tiles, and a twin: a NumPy function of
the values read that gives the values written. Operands have random start partitions, offsets and steps; each lies in a
larger tile full of other values, which must come out unchanged.
"""
import warnings

import nki
import nki.isa as nisa
import nki.language as nl
import numpy as np

TOLERANCE = {"float32": 3e-6, "float16": 2**-10, "bfloat16": 2**-7, "float8_e4m3": 2**-3, "float8_e5m2": 2**-2}
FLOATS = ("float32", "bfloat16", "float16")
INTS = ("int8", "int16", "int32", "uint8", "uint16")


def rounded(values, dtype):
    """Values as the engines store them: floats to nearest even, integers to nearest even and saturated."""
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.clip(np.rint(np.asarray(values, np.float64)), limits.min, limits.max).astype(dtype)
    with np.errstate(over="ignore"):
        return np.asarray(values, np.float32).astype(dtype)


class Operand:
    """A view of random place and steps in a larger array."""

    def __init__(self, array, index, buffer="sbuf"):
        self.array = array
        self.index = index
        self.buffer = buffer

    @property
    def value(self):
        return self.array[self.index]

    @property
    def flat(self):
        """[partitions, elements] as float64."""
        return self.value.astype(np.float32).astype(np.float64).reshape(self.value.shape[0], -1)


class Draw:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def one_of(self, choices):
        return choices[int(self.random.integers(len(choices)))]

    def size(self, most, least=1):
        return int(self.random.integers(least, most + 1))

    def chance(self, share=0.5):
        return bool(self.random.random() < share)

    def partitions(self, choices=(1, 2, 31, 32, 33, 64, 65, 128)):
        return self.one_of(choices)

    def free(self, dims=3, most=40):
        return tuple(self.size(most if d == 0 else 6) for d in range(self.size(dims)))[::-1]

    def values(self, shape, dtype, low=-4.0, high=4.0):
        dtype = np.dtype(dtype)
        if dtype.kind in "iu":
            limits = np.iinfo(dtype)
            low, high = max(low * 8, limits.min), min(high * 8, limits.max)
            return self.random.integers(int(low), int(high), shape, endpoint=True).astype(dtype)
        return self.random.uniform(low, high, shape).astype(np.float32).astype(dtype)

    def operand(self, shape, dtype="float32", low=-4.0, high=4.0, buffer="sbuf", dense=False, values=None):
        partitions = shape[0]
        starts = (0, 32, 64, 96) if partitions <= 32 else (0, 64) if partitions <= 64 else (0,)
        start = 0 if dense else self.one_of([s for s in starts if s + partitions <= 128])
        index, large = [slice(start, start + partitions)], [start + partitions]
        for size in shape[1:]:
            step = 1 if dense else self.one_of((1, 1, 1, 2, 3))
            offset = 0 if dense else self.size(3, 0)
            index.append(slice(offset, offset + step * size, step))
            large.append(offset + step * size)
        array = self.values(large, dtype, low, high)
        operand = Operand(array, tuple(index), buffer)
        if values is not None:
            array[operand.index] = np.asarray(values).astype(array.dtype)
        return operand

    def source(self, shape, dtype="float32", low=-4.0, high=4.0, psum=True):
        """An operand to read, now and then in PSUM."""
        in_psum = psum and dtype == "float32" and int(np.prod(shape[1:])) <= 64 and self.chance(0.25)
        return self.operand(shape, dtype, low, high, buffer="psum" if in_psum else "sbuf")

    def scalar(self, partitions, low=-3.0, high=3.0):
        """A number or a column: (what to pass as a maker of an argument, values as [partitions, 1], operands)."""
        if self.chance():
            number = float(np.float32(self.random.uniform(low, high)))
            return (lambda views: number), np.full((partitions, 1), number), []
        column = self.operand((partitions, 1), "float32", low, high)
        return (lambda views: views.pop(0)), column.value.astype(np.float64), [column]


class Trial:
    def __init__(self, call, twin, reads=(), writes=(), tolerance=None):
        self.call = call          # call(writes, reads): issues the instruction on views
        self.twin = twin          # twin(): one array a write, [partitions, elements] or the write's own shape
        self.reads = list(reads)
        self.writes = list(writes)
        self.tolerance = tolerance


def _tile(tensor, buffer):
    tile = nl.ndarray(tensor.shape, dtype=tensor.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=tensor)
    if buffer == "sbuf":
        return tile
    moved = nl.ndarray(tensor.shape, dtype=tensor.dtype, buffer=nl.psum)
    nisa.tensor_copy(dst=moved, src=tile)
    return moved


def results_of(trial, cores=1):
    """The whole tiles that were written, after the instruction."""
    operands = trial.writes + trial.reads

    def kernel(*tensors):
        tiles = [_tile(tensor, operand.buffer) for tensor, operand in zip(tensors, operands)]
        views = [tile[operand.index] for tile, operand in zip(tiles, operands)]
        trial.call(views[:len(trial.writes)], views[len(trial.writes):])
        outs = []
        for tile in tiles[:len(trial.writes)]:
            if nl.is_psum(tile.buffer):
                copied = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.sbuf)
                nisa.tensor_copy(dst=copied, src=tile)
                tile = copied
            out = nl.ndarray(tile.shape, dtype=tile.dtype, buffer=nl.shared_hbm)
            nisa.dma_copy(dst=out, src=tile)
            outs.append(out)
        return tuple(outs)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return nki.simulate(kernel)[cores](*[operand.array for operand in operands])


def check(test, trial, name):
    results = results_of(trial)
    for operand, result, values in zip(trial.writes, results, trial.twin()):
        expected = operand.array.copy()
        expected[operand.index] = rounded(values, expected.dtype).reshape(operand.value.shape)
        test.assertEqual(result.dtype, expected.dtype)
        if expected.dtype.kind in "iu":
            # A twin in double may stand on the other side of a half.
            difference = np.abs(result.astype(np.int64) - expected.astype(np.int64))
            test.assertLessEqual(int(difference.max(initial=0)), 0 if trial.tolerance is None else trial.tolerance, name)
            continue
        tolerance = max(TOLERANCE[expected.dtype.name], trial.tolerance or 0)
        np.testing.assert_allclose(result.astype(np.float64), expected.astype(np.float64), rtol=tolerance,
                                   atol=tolerance * 4, err_msg=name)
