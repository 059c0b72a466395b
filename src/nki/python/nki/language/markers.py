"""Names that are only operations of instructions: op=nl.bypass and the like."""
from nki._errors import error


def _only_an_operation(name, instead):
    raise error("argument", f"{name}: names an operation of an instruction and is not a function; "
                + instead)


def bypass(*_, **__):
    """The operation that passes its first operand through."""
    _only_an_operation("bypass", "pass it as op0= or op1=")


def average(*_, **__):
    """The mean over partitions, of nisa.tensor_partition_reduce."""
    _only_an_operation("average", "pass it as op= of nisa.tensor_partition_reduce, or call nl.mean")


def prelu(*_, **__):
    """x for positive x, relu_param * x for negative, of nisa.activate2."""
    _only_an_operation("prelu", "pass it as op= of nisa.activate2 with relu_param=")


class fp32:
    """The limits of float32."""

    min = -3.4028234663852886e38
    max = 3.4028234663852886e38
