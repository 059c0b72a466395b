"""Random tiles, from the generator of the Vector engine."""
from nki import isa
from nki._errors import describe, error
from nki.language.arithmetic import multiply
from nki.language.creation import ndarray
from nki.language.logic import right_shift
from nki.language._tiles import is_tile, new_tile
from nki.language.memory import is_hbm, sbuf

# Random bits that a type holds as a fraction below 1; more would round up to 1.
_FRACTION_BITS = {"float32": 24, "tfloat32": 11, "float16": 11, "bfloat16": 8, "float8_e4m3": 4,
                  "float8_e4m3fn": 4, "float8_e5m2": 3}


def random_seed(seed):
    """Seeds the generator: `seed` is a [1, 1] tile with 32 bits."""
    if not is_tile(seed):
        raise error("argument", f"random_seed: seed is {describe(seed)}; expected a [1, 1] tile: "
                    "nl.full((1, 1), 42, dtype=nl.int32, buffer=nl.sbuf)")
    isa.set_rng_seed(src_seeds=seed)


def _uniform(result):
    """Fills a tile on the chip."""
    if isa.get_nc_version().value >= isa.nc_version.gen4.value:
        isa.rand2(dst=result, min=0.0, max=1.0)
        return
    bits = _FRACTION_BITS[result.dtype]
    raw = new_tile(result.shape, "uint32")
    isa.rng(dst=raw)
    isa.tensor_scalar(dst=raw, data=raw, op0=right_shift, operand0=32 - bits)
    isa.tensor_scalar(dst=result, data=raw, op0=multiply, operand0=2.0 ** -bits)


def rand(shape, dtype, buffer=sbuf, name=""):
    """A new tensor of uniform random numbers, at least 0 and below 1."""
    result = ndarray(shape, dtype, buffer, name)
    if result.dtype not in _FRACTION_BITS:
        raise error("dtype", f"rand: the type is {result.dtype}; expected a float type: numbers "
                    "between 0 and 1 are asked for (nisa.rng gives random integers)")
    if not is_hbm(buffer):
        _uniform(result)
        return result
    from nki.language.creation import _rows
    rows = _rows(result)
    tile = new_tile(rows.shape, result.dtype)
    _uniform(tile)
    isa.dma_copy(dst=rows, src=tile)
    return result
