"""The Neuron Kernel Interface on a simulated NeuronCore.

Kernels are ordinary functions under @nki.jit. Called with NumPy arrays (or PyTorch tensors) they run on the
simulator; the chip is a Trainium2 unless NEURON_PLATFORM_TARGET_OVERRIDE names another.
"""
import os as _os

from nki import _core

_core.add_package_folder(_os.path.dirname(_os.path.abspath(__file__)) + _os.sep)

NkiError = _core.NkiError
for _class in _core.ERROR_CLASSES:
    globals()[_class.__name__] = _class
del _class

from nki._object import NKIObject  # noqa: E402
from nki import dtype, isa, language  # noqa: E402
from nki._kernel import Kernel, jit, simulate  # noqa: E402
from nki import collectives, compiler, experimental, meta, tensor, typing  # noqa: E402

__version__ = "0.6.0"
