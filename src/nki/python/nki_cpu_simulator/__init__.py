"""The simulator under the name by which test frameworks of kernel libraries look for one.

They import nki_cpu_simulator.nki and its modules, put those in the places of nki's own, and call
nki.cpu_simulate(kernel)[cores](**arguments) with NKI_NC_VERSION set. All of it is this package's nki.
"""
import importlib
import sys

import nki
from nki_cpu_simulator._simulate import cpu_simulate

_ALIASES = {"": "nki", ".language": "nki.language", ".language.dtypes": "nki.dtype", ".isa": "nki.isa",
            ".isa.constants": "nki.isa.constants", ".compiler": "nki.compiler", ".typing": "nki.typing",
            ".tensor": "nki.tensor", ".dtype": "nki.dtype", ".meta": "nki.meta", ".collectives": "nki.collectives",
            ".experimental": "nki.experimental", ".builtin": "nki_cpu_simulator._builtin"}

for _name, _module in _ALIASES.items():
    sys.modules[__name__ + ".nki" + _name] = importlib.import_module(_module)

nki.cpu_simulate = cpu_simulate
nki.builtin = sys.modules[__name__ + ".nki.builtin"]
nki.language.dtypes = nki.dtype
# Whoever takes nki's modules for these finds the same ones.
sys.modules["nki.builtin"] = nki.builtin
sys.modules["nki.language.dtypes"] = nki.dtype
