"""What frameworks install as builtins.builtin: names that kernels may use without an import. Kernels here are plain
Python, in which `range`, `print` and the rest are what they are."""
from nki.language import (affine_range, device_print, dynamic_range, num_programs, program_id, program_ndim,
                          sequential_range, static_range)
