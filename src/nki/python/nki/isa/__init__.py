"""nki.isa: one function an instruction of the NeuronCore. docs/ISA.md describes each."""
import enum as _enum

from nki import _core
from nki.isa import constants
from nki.isa._registers import register_alloc

NkiInstruction = _core.NkiInstruction
VirtualRegister = _core.VirtualRegister
NkiValidationError = _core.NkiError


class engine(_enum.Enum):
    """Engines of a NeuronCore; unknown leaves the choice to the tool chain."""
    unknown = 0
    tensor = 1
    scalar = 2
    gpsimd = 3
    dma = 4
    vector = 5
    sync = 6


class reduce_cmd(_enum.Enum):
    """What an instruction does with the engine's accumulators."""
    idle = 0
    reset = 1
    reduce = 2
    reset_reduce = 3
    load_reduce = 4


class dge_mode(_enum.Enum):
    """Who makes the descriptors of a DMA."""
    unknown = 0
    swdge = 1
    hwdge = 2
    none = 3


class oob_mode(_enum.Enum):
    """What happens when an index known only at run time leaves its tensor."""
    error = 0
    skip = 1


class matmul_perf_mode(_enum.Enum):
    """Fast modes of the Tensor engine."""
    none = "none"
    double_row = "double_row"


class nc_version(_enum.IntEnum):
    """Generations of the NeuronCore, trn1, trn2 and trn3, in order."""
    gen2 = 2
    gen3 = 3
    gen4 = 4


class dma_engine(_enum.Enum):
    """Which DMA engines move a sendrecv."""
    dma = 1
    gpsimd_dma = 2


for _class in (engine, reduce_cmd, dge_mode, oob_mode, matmul_perf_mode, dma_engine):
    _core.register_enum(_class.__name__, _class)
del _class

tensor_engine = engine.tensor
vector_engine = engine.vector
scalar_engine = engine.scalar
gpsimd_engine = engine.gpsimd
unknown_engine = engine.unknown

globals().update(_core.INSTRUCTIONS)


def get_nc_version():
    """The generation of the NeuronCore that is simulated."""
    return nc_version(_core.machine_constant("generation"))


def get_nc_sub_version():
    """The silicon revision within a generation; the first one is simulated."""
    return 0
