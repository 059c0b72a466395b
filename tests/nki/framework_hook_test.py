"""nki_cpu_simulator and neuron_dtypes: what a kernel library's test framework does with them, in its order."""
import subprocess
import sys
import textwrap
import unittest

SETUP = """
    import builtins, os, sys
    import numpy as np
    import nki_cpu_simulator.nki.builtin as sim_builtin
    import nki_cpu_simulator.nki.compiler as sim_compiler
    import nki_cpu_simulator.nki.isa as sim_isa
    import nki_cpu_simulator.nki.isa.constants as sim_constants
    import nki_cpu_simulator.nki.language as sim_language
    import nki_cpu_simulator.nki.language.dtypes as sim_dtypes
    import nki_cpu_simulator.nki.tensor as sim_tensor
    import nki_cpu_simulator.nki.typing as sim_typing
    from nki_cpu_simulator import nki as sim_nki
    builtins.builtin = sim_builtin
    sys.modules.update({"nki": sim_nki, "nki.language": sim_language, "nki.isa": sim_isa, "nki.typing": sim_typing,
                        "nki.isa.constants": sim_constants, "nki.compiler": sim_compiler, "nki.dtype": sim_dtypes,
                        "nki.tensor": sim_tensor})
"""

KERNEL = """
    import nki
    import nki.isa as nisa
    import nki.language as nl
    from nki.isa.constants import dge_mode
    from nki.dtype import bfloat16

    @nki.jit
    def add_rank(x, table):
        tile = nl.load(x)
        nisa.tensor_scalar(tile, tile, nl.add, float(nl.program_id(0) + 1))
        out = nl.ndarray((2, *x.shape), x.dtype, buffer=nl.shared_hbm)
        nl.store(out[nl.program_id(0)], tile)
        nl.store(table, tile)
        return out, table
"""


def run(text):
    """A process of its own: the framework takes the modules' places for good."""
    code = textwrap.dedent(SETUP) + textwrap.dedent(KERNEL) + textwrap.dedent(text)
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, timeout=60)
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout.split()


class FrameworkHookTest(unittest.TestCase):
    def test_a_kernel_on_two_cores_with_an_aliased_argument(self):
        run("""
            arguments = {"x": np.ones((4, 8), np.float32), "table.must_alias_input": np.zeros((4, 8), np.float32)}
            plain = {name.removesuffix(".must_alias_input"): value for name, value in arguments.items()}
            os.environ["NKI_NC_VERSION"] = "gen3"
            out, table = nki.cpu_simulate(add_rank)[2](**plain)
            assert (np.asarray(out, dtype=np.float32) == np.array([2, 3]).reshape(2, 1, 1)).all()
            assert table.shape == (4, 8)
            """)

    def test_the_generation_is_that_of_the_framework(self):
        self.assertEqual(run("""
            def kernel(x):
                print(nisa.get_nc_version().name)
            os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"] = "trn2"
            for generation in ("gen3", "gen4"):
                os.environ["NKI_NC_VERSION"] = generation
                nki.cpu_simulate(kernel)[1](x=np.ones((1, 1), np.float32))
            print(os.environ["NEURON_PLATFORM_TARGET_OVERRIDE"])
            """), ["gen3", "gen4", "trn2"])

    def test_casts(self):
        import neuron_dtypes as dt
        import numpy as np
        x = dt.static_cast(np.array([1.00390625, 3.0]), "bfloat16")
        self.assertEqual(x.dtype.name, "bfloat16")
        self.assertEqual(x.astype(np.float32).tolist(), [1.0, 3.0])
        self.assertEqual(dt.static_cast(x, np.float32).dtype, np.float32)
        self.assertTrue(dt.is_float_type(x.dtype) and dt.is_float_type(np.float64) and not dt.is_float_type(np.int32))
        self.assertEqual([dt.sizeinbytes(t) for t in ("bfloat16", np.float64, dt.float8_e4m3)], [2, 8, 1])
        self.assertEqual(dt.finfo("float8_e4m3fn").max, 448)
        self.assertEqual(dt.finfo(np.float16).max, 65504)


if __name__ == "__main__":
    unittest.main()
