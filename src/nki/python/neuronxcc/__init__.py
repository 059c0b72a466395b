"""The compiler package of the older NKI generation; neuronxcc.nki is what it holds here."""
import logging as _logging

if not hasattr(_logging, "OFF"):  # a level that this package gives to logging, and that programs around kernels use
    _logging.OFF = _logging.CRITICAL + 10
