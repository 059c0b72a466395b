"""Launch grids: how many programs, and on which cores."""
import math

from neuronxcc.nki._errors import describe, error


class Cores:
    """nl.nc(n): n cores of a logical core, as a dimension of a grid or a factor of one."""

    def __init__(self, count):
        if count not in (1, 2):
            raise error("argument", f"nl.nc({count!r}): expected 1 or 2, the cores of a logical core")
        self.count = count

    def __mul__(self, other):
        return spmd_dim(self, other)

    def __rmul__(self, other):
        return spmd_dim(other, self)


def nc(count):
    """`count` cores as a dimension of a launch grid."""
    return Cores(count)


class spmd_dim:
    """A dimension of a grid as a product of factors, one of which may be cores."""

    def __init__(self, *factors):
        flat = []
        for factor in factors:
            flat += factor.factors if isinstance(factor, spmd_dim) else [factor]
        self.factors = flat
        for factor in flat:
            if not isinstance(factor, (int, Cores)):
                raise error("argument", f"nl.spmd_dim: {describe(factor)}; expected integers and nl.nc(n)")

    def __mul__(self, other):
        return spmd_dim(self, other)

    def __rmul__(self, other):
        return spmd_dim(other, self)

    @property
    def size(self):
        return math.prod(f.count if isinstance(f, Cores) else f for f in self.factors)

    @property
    def cores(self):
        return math.prod(f.count for f in self.factors if isinstance(f, Cores))

    def core_of(self, index):
        """On which core the programs of this index run."""
        core = 0
        for factor in reversed(self.factors):
            size = factor.count if isinstance(factor, Cores) else factor
            if isinstance(factor, Cores):
                core = index % size
            index //= size
        return core


def parse_grid(text):
    """The windtunnel program's --grid: "4,2" is (4, 2), "nc2*4" is (nl.nc(2) * 4,)."""
    names = {"nc1": nc(1), "nc2": nc(2)}
    factors = [[names.get(item.strip(), item.strip()) for item in part.split("*")] for part in text.split(",")]
    if any(isinstance(item, str) and not (item.isdecimal() and int(item)) for part in factors for item in part):
        raise error("argument", f"--grid {text}: expected numbers of programs by dimension, 4,2 for kernel[4, 2](…); nc2 is "
                    "the cores of --lnc 2, as in nc2*4")
    return tuple(spmd_dim(*[int(item) if isinstance(item, str) else item for item in part]) for part in factors)


def as_dimension(item):
    """An integer, nl.nc(n) or nl.spmd_dim as a dimension of a grid."""
    if isinstance(item, spmd_dim):
        return item
    if isinstance(item, (int, Cores)) and not isinstance(item, bool):
        return spmd_dim(item)
    if hasattr(item, "__index__"):
        return spmd_dim(int(item))
    raise error("argument", f"a launch grid with {describe(item)}; expected integers, nl.nc(n) or nl.spmd_dim(…)")
