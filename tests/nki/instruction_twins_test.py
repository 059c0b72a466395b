"""Every instruction beside its NumPy twin, over random legal shapes, strides, places and element types."""
import os
import sys
import unittest

from nki import _core

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from instruction_twins import TRIALS  # noqa: E402
from twins import Draw, check  # noqa: E402

ROUNDS = int(os.environ.get("WINDTUNNEL_TWIN_ROUNDS", "12"))
# Covered elsewhere: randomness by statistics (C++), pairs of cores (collectives_test), generation 4 (C++).
ELSEWHERE = {"rng", "dropout", "set_rng_seed", "rand_set_state", "rand_get_state", "rand2", "sendrecv", "core_barrier",
             "nc_matmul_mx", "quantize_mx", "activate2", "exponential", "register_store"}


class InstructionTwins(unittest.TestCase):
    def test_every_instruction_has_a_twin(self):
        self.assertEqual(set(_core.INSTRUCTIONS) - set(TRIALS) - ELSEWHERE, set())


def _test_of(make):
    def test(self):
        for seed in range(ROUNDS):
            with self.subTest(seed=seed):
                check(self, make(Draw(seed)), f"{make.__name__} seed {seed}")
    return test


for _name, _make in TRIALS.items():
    setattr(InstructionTwins, f"test_{_name}", _test_of(_make))

if __name__ == "__main__":
    unittest.main()
