"""nki.cpu_simulate: a kernel as a function of host arrays, on the generation that NKI_NC_VERSION names."""
import os

from nki._kernel import jit


def cpu_simulate(kernel):
    """cpu_simulate(kernel)(…) and cpu_simulate(kernel)[cores](…)."""
    return _Simulated(jit(kernel))


class _Simulated:
    def __init__(self, kernel):
        self.kernel = kernel

    def __getitem__(self, cores):
        return _Simulated(self.kernel[cores])

    def __call__(self, *args, **kwargs):
        generation = os.environ.get("NKI_NC_VERSION")
        if not generation:
            return self.kernel(*args, **kwargs)
        before = os.environ.get(_PLATFORM)
        os.environ[_PLATFORM] = generation
        try:
            return self.kernel(*args, **kwargs)
        finally:
            if before is None:
                del os.environ[_PLATFORM]
            else:
                os.environ[_PLATFORM] = before


_PLATFORM = "NEURON_PLATFORM_TARGET_OVERRIDE"
