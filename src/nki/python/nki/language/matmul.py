"""The matrix product of two tiles."""
from nki import isa
from nki._errors import error, warn_not_on_chip
from nki.language._tiles import copy_to_sbuf, new_tile, out_of_psum, tile
from nki.language.memory import psum
from nki.language.shapes import transpose


def _two_dimensions(argument, value):
    if tile("matmul", argument, value).ndim != 2:
        raise error("shape", f"matmul: {argument} has shape {value.shape}; expected two dimensions")
    return out_of_psum(value)


def matmul(x, y, transpose_x=False):
    """x @ y, or x.T @ y with transpose_x, as float32 in PSUM.

    x: [M, K] ([K, M] with transpose_x), y: [K, N]; K and M at most 128, N at most 512. The Tensor
    engine contracts over partitions, so that x must be turned first unless it is already.
    """
    x, y = _two_dimensions("x", x), _two_dimensions("y", y)
    if not transpose_x:
        warn_not_on_chip("nl.matmul without transpose_x=True",
                         "hand it x transposed and transpose_x=True")
        x = copy_to_sbuf(transpose(x))
    result = new_tile((x.shape[1], y.shape[1]), "float32", psum)
    isa.nc_matmul(dst=result, stationary=x, moving=y)
    return result
