"""nki.benchmark, nki.profile and nki.baremetal of the older generation: values, and times by prediction."""
import unittest

import neuronxcc.nki as nki
import neuronxcc.nki.language as nl
import numpy as np


@nki.jit
def exponential(a):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(a.shape[0] // 128):
        rows = nl.ds(128 * i, 128)
        nl.store(out[rows, :], nl.exp(nl.load(a[rows, :])))
    return out


class Times(unittest.TestCase):
    def microseconds(self, rows):
        timed = nki.benchmark(warmup=1, iters=2)(exponential)
        a = np.ones((rows, 512), np.float32)
        np.testing.assert_allclose(timed(a), np.exp(a), rtol=1e-6)
        latency = timed.benchmark_result.nc_latency
        self.assertEqual(latency.get_latency_percentile(50), latency.get_latency_percentile(99))
        return latency.get_latency_percentile(99)

    def test_more_work_takes_longer(self):
        few, many = self.microseconds(256), self.microseconds(8192)
        self.assertGreater(few, 5)
        self.assertGreater(many, 2 * few)

    def test_percentiles_are_of_a_hundred(self):
        timed = nki.profile(exponential)
        timed(np.ones((128, 8), np.float32))
        with self.assertRaises(nki.NkiError):
            timed.benchmark_result.nc_latency.get_latency_percentile(101)

    def test_two_cores(self):
        @nki.benchmark
        def both(a):
            out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
            nl.store(out[nl.program_id(0)], nl.load(a[nl.program_id(0)]))
            return out
        a = np.random.default_rng(1).standard_normal((2, 16, 16)).astype(np.float32)
        kernel = both[nl.nc(2)]
        np.testing.assert_array_equal(kernel(a), a)
        self.assertGreater(kernel.benchmark_result.nc_latency.get_latency_percentile(50), 0)

    def test_baremetal_gives_values(self):
        a = np.ones((128, 8), np.float32)
        np.testing.assert_allclose(nki.baremetal(exponential)(a), np.exp(a), rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
