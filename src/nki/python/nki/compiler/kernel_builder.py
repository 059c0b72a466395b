"""Kernels as plain functions of named inputs and outputs, without @nki.jit."""
import dataclasses

import nki


@dataclasses.dataclass
class CompiledKernel:
    """A function with its arrays bound; calling it runs the simulator and fills the outputs."""

    function: object
    inputs: dict
    outputs: dict
    compile_opts: object
    parameters: dict

    def __call__(self):
        nki.simulate(self.function)(**self.inputs, **self.outputs, **self.parameters)
        return self.outputs


def compile_kernel(function, inputs, outputs, compile_opts=None, **parameters):
    """Runs `function` once on its arrays, so that its mistakes show, and gives what runs it again.

    `inputs` and `outputs` are NumPy arrays by the names of its arguments, `parameters` what else it
    takes (functions, numbers). The outputs are written in place. `compile_opts` belongs to the
    compiler of the chip and means nothing here.
    """
    twice = set(inputs) & set(outputs) | (set(inputs) | set(outputs)) & set(parameters)
    if twice:
        from nki._errors import error
        raise error("argument", f"compile_kernel: {', '.join(sorted(twice))} given twice; expected "
                    "each name among inputs, outputs or parameters")
    compiled = CompiledKernel(function, dict(inputs), dict(outputs), compile_opts, parameters)
    compiled()
    return compiled
