"""For the tests of nki.language: functions on tiles, called with arrays."""
import contextlib
import os
import warnings

import nki
import nki.isa as nisa
import nki.language as nl


def _out(tile):
    """A tile, or a tensor in HBM, as an output of the kernel."""
    if nl.is_hbm(tile.buffer):
        return tile
    if nl.is_psum(tile.buffer):
        tile = nl.copy(tile)
    out = nl.ndarray(tile.shape, tile.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=out, src=tile)
    return out


def run(body, *arrays, cores=1):
    """body(*tiles) in a kernel, one tile in SBUF an array; what it returns, as arrays.

    A warning that something stays in simulation is no failure here.
    """
    def kernel(*tensors):
        returned = body(*[nl.load(tensor) for tensor in tensors])
        if isinstance(returned, tuple):
            return tuple(_out(tile) for tile in returned)
        return _out(returned)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return nki.simulate(kernel)[cores](*arrays)


def run_on_hbm(body, *arrays, cores=1):
    """body(*tensors) with the tensors in HBM."""
    return nki.simulate(body)[cores](*arrays)


@contextlib.contextmanager
def platform(name):
    """Another chip for a while."""
    before = os.environ.get("NEURON_PLATFORM_TARGET_OVERRIDE")
    os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"] = name
    try:
        yield
    finally:
        if before is None:
            del os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"]
        else:
            os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"] = before


@contextlib.contextmanager
def refused(test, error_class, text):
    """Expects an error of a class of docs/ERRORS.md whose message matches `text`."""
    with test.assertRaisesRegex(nki.NkiError, text) as caught:
        yield
    test.assertEqual(caught.exception.error_class, error_class)
