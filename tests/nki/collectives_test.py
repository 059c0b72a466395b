"""nki.collectives between the two cores of a launch."""
import unittest

import nki
import nki.collectives as ncc
import nki.isa as nisa
import nki.language as nl
import numpy as np

from tiles import refused, run_on_hbm

RANDOM = np.random.RandomState(7)
A, B = RANDOM.rand(2, 8, 12).astype(np.float32)  # what ranks 0 and 1 hold
PAIR = ncc.ReplicaGroup([[0, 1]])


def exchange(call, shape, dtype=nl.float32, buffer=nl.hbm, a=A, b=B):
    """call(src, dst) on both ranks, dst of `shape`; both dsts."""
    def kernel(x, y):
        rank = nl.program_id()
        out = nl.ndarray((2,) + shape, dtype, buffer=nl.shared_hbm)
        src = nl.ndarray(x.shape, x.dtype, buffer=buffer)
        nisa.dma_copy(dst=src, src=(x, y)[rank])
        dst = nl.ndarray(shape, dtype, buffer=buffer)
        call(src, dst)
        nisa.dma_copy(dst=out[rank], src=dst)
        return out
    return run_on_hbm(kernel, a, b, cores=2)


class Groups(unittest.TestCase):
    def test_all_reduce(self):
        for buffer in (nl.hbm, nl.sbuf):
            for op, function in ((nl.add, np.add), (nl.maximum, np.maximum), (nl.minimum, np.minimum)):
                got = exchange(lambda src, dst: ncc.all_reduce([src], [dst], PAIR, op), (8, 12),
                               buffer=buffer)
                np.testing.assert_allclose(got, [function(A, B)] * 2, rtol=1e-7)

    def test_all_reduce_of_many_elements(self):
        a, b = RANDOM.rand(2, 300, 70).astype("bfloat16")
        got = exchange(lambda src, dst: ncc.all_reduce([src], [dst], PAIR, nl.add), (300, 70),
                       nl.bfloat16, a=a, b=b)
        np.testing.assert_array_equal(got[0], a + b)

    def test_several_tensors(self):
        def call(src, dst):
            second = nl.ndarray(dst.shape, dst.dtype, buffer=nl.hbm)
            ncc.all_reduce([src, src], [second, dst], PAIR, nl.add)
        np.testing.assert_allclose(exchange(call, (8, 12)), [A + B] * 2)

    def test_groups_of_one(self):
        alone = ncc.ReplicaGroup([[0], [1]])
        got = exchange(lambda src, dst: ncc.all_reduce([src], [dst], alone, nl.add), (8, 12))
        np.testing.assert_array_equal(got, [A, B])

    def test_all_gather(self):
        got = exchange(lambda src, dst: ncc.all_gather([src], [dst], PAIR, 0), (16, 12))
        np.testing.assert_array_equal(got, [np.concatenate([A, B])] * 2)
        turned = ncc.ReplicaGroup([[1, 0]])
        got = exchange(lambda src, dst: ncc.all_gather([src], [dst], turned, 0), (16, 12))
        np.testing.assert_array_equal(got, [np.concatenate([B, A])] * 2)
        got = exchange(lambda src, dst: ncc.all_gather([src], [dst], PAIR, collective_dim=1), (8, 24),
                       buffer=nl.sbuf)
        np.testing.assert_array_equal(got, [np.concatenate([A, B], axis=1)] * 2)

    def test_reduce_scatter(self):
        got = exchange(lambda src, dst: ncc.reduce_scatter([src], [dst], PAIR, 0, nl.add), (4, 12))
        np.testing.assert_allclose(got, [(A + B)[:4], (A + B)[4:]])

    def test_all_to_all(self):
        got = exchange(lambda src, dst: ncc.all_to_all([src], [dst], PAIR, 0), (8, 12))
        np.testing.assert_array_equal(got, [np.concatenate([A[:4], B[:4]]),
                                            np.concatenate([A[4:], B[4:]])])


class Permutes(unittest.TestCase):
    def test_pairs(self):
        got = exchange(lambda src, dst: ncc.collective_permute([src], [dst], [(0, 1), (1, 0)]),
                       (8, 12))
        np.testing.assert_array_equal(got, [B, A])

    def test_one_way(self):
        def call(src, dst):
            nisa.dma_copy(dst=dst, src=src)
            ncc.collective_permute([src], [dst], [(0, 1)])
        np.testing.assert_array_equal(exchange(call, (8, 12)), [A, A])

    def test_ring(self):
        got = exchange(lambda src, dst: ncc.collective_permute_implicit([[src]], [[dst]], PAIR),
                       (8, 12))
        np.testing.assert_array_equal(got, [B, A])

    def test_ring_with_reduction(self):
        def call(src, dst):
            ncc.collective_permute_implicit_reduce([[src]], [[src]], [[dst]], PAIR, nl.add)
        np.testing.assert_allclose(exchange(call, (8, 12)), [2 * B, 2 * A])

    def test_rank_being_processed(self):
        def call(src, dst):
            del src
            for step in range(2):
                register = ncc.collective_permute_implicit_current_processing_rank_id(step, PAIR)
                value = nl.ndarray((1, 1), nl.int32)
                nisa.register_store(value, register)
                nisa.dma_copy(dst=dst[0:1, step:step + 1], src=value)
        self.assertEqual(exchange(call, (1, 2), nl.int32)[:, 0].tolist(), [[0, 1], [1, 0]])

    def test_rank_id(self):
        def kernel(x):
            assert ncc.rank_id(name="me") == nl.program_id()
            return nl.shared_constant(np.ones(3, np.float32))
        self.assertEqual(run_on_hbm(kernel, A, cores=2).tolist(), [1, 1, 1])


class Refusals(unittest.TestCase):
    def refused(self, error_class, text, call, shape=(8, 12), **options):
        with refused(self, error_class, text):
            exchange(call, shape, **options)

    def test_ranks_of_other_devices(self):
        many = ncc.ReplicaGroup([[0, 1, 2, 3]])
        self.refused("unsupported", r"ranks \[2, 3\] of other devices",
                     lambda src, dst: ncc.all_reduce([src], [dst], many, nl.add))
        self.refused("unsupported", "ranks",
                     lambda src, dst: ncc.collective_permute([src], [dst], [(0, 5)]))

    def test_variable_sizes(self):
        for call in (ncc.all_gather_v, ncc.all_to_all_v):
            self.refused("unsupported", call.__name__,
                         lambda src, dst: call([src], [dst], PAIR, metadata_tensor=src))

    def test_arguments(self):
        self.refused("argument", "nl.add, nl.maximum or nl.minimum",
                     lambda src, dst: ncc.all_reduce([src], [dst], PAIR, nl.multiply))
        self.refused("argument", "expected a ReplicaGroup",
                     lambda src, dst: ncc.all_reduce([src], [dst], [[0, 1]], nl.add))
        self.refused("argument", "is in no group",
                     lambda src, dst: ncc.all_reduce([src], [dst], ncc.ReplicaGroup([[0]]), nl.add))
        self.refused("argument", "lengths", lambda src, dst: ncc.all_gather([src, src], [dst], PAIR, 0))
        self.refused("argument", "channel_ids",
                     lambda src, dst: ncc.collective_permute_implicit([[src]], [[dst]], PAIR, [1]))
        with refused(self, "argument", "twice"):
            ncc.ReplicaGroup([[0, 1], [1]])

    def test_priority(self):
        self.refused("generation", "priority=1",
                     lambda src, dst: ncc.all_reduce([src], [dst], PAIR, nl.add, priority=1))

    def test_tensors(self):
        self.refused("shape", r"expected \(16, 12\)",
                     lambda src, dst: ncc.all_gather([src], [dst], PAIR, 0))
        self.refused("unsupported", "collective_dim 1",
                     lambda src, dst: ncc.all_gather([src], [dst], PAIR, 1))
        self.refused("memory", "works on HBM",
                     lambda src, dst: ncc.all_to_all([src], [dst], PAIR, 0), buffer=nl.sbuf)
        self.refused("memory", "in HBM or SBUF",
                     lambda src, dst: ncc.all_reduce([src], [nl.zeros((8, 12), nl.float32, nl.psum)],
                                                     PAIR, nl.add))
        self.refused("shape", "cannot share evenly",
                     lambda src, dst: ncc.reduce_scatter([src[0:7]], [dst], PAIR, 0, nl.add))


if __name__ == "__main__":
    unittest.main()
