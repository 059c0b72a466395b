"""neuronxcc.nki: the older generation of the Neuron Kernel Interface on the simulated NeuronCore.

Instructions return tiles, masks and index expressions say which part of a tensor they touch, and launch grids run many
programs. All of it is a layer over the package nki: the same instructions, values and times.
"""
import os as _os

import nki as _nki
from nki import _core

_core.add_package_folder(_os.path.dirname(_os.path.dirname(_os.path.abspath(__file__))) + _os.sep)

from neuronxcc.nki import language  # noqa: E402
from neuronxcc.nki import compiler, isa, typing  # noqa: E402
from neuronxcc.nki._benchmark import benchmark, profile  # noqa: E402
from neuronxcc.nki._kernel import Kernel, baremetal, jit, simulate_kernel, trace  # noqa: E402

NkiError = _nki.NkiError
__version__ = "2.23"
