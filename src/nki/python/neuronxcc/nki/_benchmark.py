"""nki.benchmark and nki.profile: kernels that say how long they take on the chip, by prediction."""
import math

from nki import _core
from neuronxcc.nki import _kernel, _run


class LatencyStatistics:
    """Percentiles of the latency. A prediction is one number: every percentile of it is the same."""

    def __init__(self, ns):
        self.latency_ns = ns

    def get_latency_percentile(self, percentile):
        """Microseconds, as whole ones, that no more than `percentile` per cent of the runs exceed."""
        if not 0 <= percentile <= 100:
            from neuronxcc.nki._errors import error
            raise error("argument", f"get_latency_percentile({percentile!r}): expected 0 to 100")
        return math.ceil(self.latency_ns / 1000)

    def get_latency_percentiles(self, percentiles=(0, 1, 10, 25, 50, 90, 99, 100)):
        """{percentile: microseconds}"""
        return {percentile: self.get_latency_percentile(percentile) for percentile in percentiles}


class BenchmarkResult:
    """What a benchmark found: nc_latency is the time on the NeuronCore."""

    def __init__(self, ns):
        self.nc_latency = LatencyStatistics(ns)


class TimedKernel(_kernel.Kernel):
    """A kernel whose calls are timed too; benchmark_result is of the last one."""

    def __init__(self, function, grid=(), mode="benchmark"):
        super().__init__(function, grid, mode)
        self.benchmark_result = None

    def __call__(self, *args, **kwargs):
        if _core.running():
            return super().__call__(*args, **kwargs)
        result, ns = _run.launch_timed(self.function, args, kwargs, self.grid, self.mode)
        self.benchmark_result = BenchmarkResult(ns)
        return result


@_kernel.decorator
def benchmark(function, warmup=10, iters=100, **_):
    """Makes a kernel whose call leaves its predicted latency in `benchmark_result`."""
    del warmup, iters  # the simulator needs neither
    grid = function.grid if isinstance(function, _kernel.Kernel) else ()
    return TimedKernel(_kernel.function_of(function), grid)


@_kernel.decorator
def profile(function, **_):
    """Makes a kernel whose call is timed; `windtunnel kernel profile` shows where the time goes."""
    grid = function.grid if isinstance(function, _kernel.Kernel) else ()
    return TimedKernel(_kernel.function_of(function), grid, "profile")
