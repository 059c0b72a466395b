"""Element-by-element instructions of the Vector, Scalar and GpSimd engines."""
import numbers

from nki import isa
from neuronxcc.nki._call import box_of, give, in_allocated_kernel, operand, promoted, statement, tensor, within
from neuronxcc.nki._errors import describe, refusal
from neuronxcc.nki._tensor import Tensor

unknown = isa.engine.unknown
idle = isa.reduce_cmd.idle
reset_reduce = isa.reduce_cmd.reset_reduce



def _check_activation(data, bias, scale):
    if bias is None and in_allocated_kernel():
        raise refusal("err_bias_tensor_must_be_specified_in_allocation", "activation without bias in a kernel that places its "
                      "tiles; hand it a tile of zeros that the kernel has placed")
    if bias is not None and not isinstance(bias, Tensor):
        if not isinstance(bias, numbers.Number):
            raise refusal("err_activation_bias_invalid_type", f"activation: bias is {describe(bias)}; expected a tile of one "
                          "column")
    if not isinstance(scale, (Tensor, numbers.Number)) and not hasattr(scale, "dtype"):
        raise refusal("err_activation_scale_invalid_type", f"activation: scale is {describe(scale)}; expected a number or a "
                      "tile of one column")
    if isinstance(scale, Tensor):
        if scale.dtype != "float32":
            raise refusal("err_activation_scale_invalid_type", f"activation: scale is {scale!r}; expected float32")
        if scale.shape[0] != data.shape[0] or scale.size != scale.shape[0]:
            raise refusal("err_activation_scale_scalar_or_vector", f"activation: scale is {scale!r} for {data!r}; expected a "
                          "number or one element a partition")


def activation(op, data, *, bias=None, scale=1.0, reduce_op=None, reduce_res=None, reduce_cmd=idle, mask=None, dtype=None):
    """op(data * scale + bias) by the Scalar engine."""
    tensor("activation", "data", data)
    _check_activation(data, bias, scale)
    box = box_of(mask, data.shape)
    if box is False:
        return give(data.shape, data.dtype, None, False, explicit=dtype)
    x = data.read(box)
    bias, scale = operand("activation", "bias", bias, box), operand("activation", "scale", scale, box)
    total = None if reduce_res is None else reduce_res.target(within(box, reduce_res.shape))
    if total is not None and reduce_cmd is idle:
        reduce_cmd = reset_reduce
    return give(data.shape, data.dtype, lambda dst: isa.activation(
        dst, op, x, bias=bias, scale=scale, reduce_op=reduce_op, reduce_res=total, reduce_cmd=reduce_cmd),
        box, explicit=dtype)


def activation_reduce(op, data, *, reduce_op=None, reduce_res=None, bias=None, scale=1.0, mask=None, dtype=None):
    """activation, and reduce_op over its results in reduce_res, a column."""
    tensor("activation_reduce", "data", data)
    _check_activation(data, bias, scale)
    box = box_of(mask, data.shape)
    if box is False:
        return give(data.shape, data.dtype, None, False, explicit=dtype)
    x = data.read(box)
    bias, scale = operand("activation_reduce", "bias", bias, box), operand("activation_reduce", "scale", scale, box)
    total = None if reduce_res is None else reduce_res.target(within(box, reduce_res.shape))
    return give(data.shape, data.dtype, lambda dst: isa.activation_reduce(
        dst, op, x, reduce_op, reduce_res=total, bias=bias, scale=scale), box, explicit=dtype)


def reciprocal(data, *, dtype=None, mask=None):
    """1 / data"""
    box = box_of(mask, tensor("reciprocal", "data", data).shape)
    x = None if box is False else data.read(box)
    return give(data.shape, data.dtype, lambda dst: isa.reciprocal(dst, x), box, explicit=dtype)


def _broadcast_partition(value, partitions):
    """A column or row of one partition as if it were in all partitions."""
    if isinstance(value, Tensor) and value.shape[0] == 1 and partitions > 1:
        return value.broadcast_to((partitions,) + tuple(value.shape[1:]))
    return value


def tensor_scalar(data, op0, operand0, reverse0=False, op1=None, operand1=None, reverse1=False, *, dtype=None, mask=None,
                  engine=unknown):
    """(data op0 operand0) op1 operand1, where operands are numbers or columns."""
    tensor("tensor_scalar", "data", data)
    box = box_of(mask, data.shape)
    if box is False:
        return give(data.shape, data.dtype, None, False, explicit=dtype)
    operand0, operand1 = (_broadcast_partition(value, data.shape[0]) for value in (operand0, operand1))
    result = promoted(data, operand0, operand1)
    x = data.read(box)
    y, z = operand("tensor_scalar", "operand0", operand0, box), operand("tensor_scalar", "operand1", operand1, box)
    return give(data.shape, result, lambda dst: isa.tensor_scalar(
        dst, x, op0, y, reverse0=reverse0, op1=op1, operand1=z, reverse1=reverse1, engine=engine), box, explicit=dtype)


def tensor_scalar_reduce(*, data, op0, operand0, reduce_op, reduce_res, reverse0=False, dtype=None, mask=None):
    """data op0 operand0, and reduce_op over it in reduce_res, a column."""
    tensor("tensor_scalar_reduce", "data", data)
    box = box_of(mask, data.shape)
    if box is False:
        return give(data.shape, data.dtype, None, False, explicit=dtype)
    x, y = data.read(box), operand("tensor_scalar_reduce", "operand0", operand0, box)
    total = reduce_res.target(within(box, reduce_res.shape))
    return give(data.shape, data.dtype, lambda dst: isa.tensor_scalar_reduce(
        dst, x, op0, y, reduce_op=reduce_op, reduce_res=total, reverse0=reverse0), box, explicit=dtype)


def tensor_scalar_cumulative(*, src, dst, op0, op1, imm0, imm1=None, reduce_cmd=reset_reduce, mask=None):
    """A running op1 over src op0 imm0 along the free dimension, into dst."""
    box = box_of(mask, tensor("tensor_scalar_cumulative", "src", src).shape)
    if box is False:
        return
    if reduce_cmd is not isa.reduce_cmd.load_reduce:
        imm1 = None  # read by load_reduce only
    x, a, b = src.read(box), _float(operand("", "imm0", imm0, box)), _float(operand("", "imm1", imm1, box))
    statement(lambda: isa.tensor_scalar_cumulative(dst.target(within(box, dst.shape)), x, op0, op1, a, imm1=b,
                                                   reduce_cmd=reduce_cmd))


def _float(value):
    return float(value) if isinstance(value, numbers.Real) else value


def tensor_tensor(data1, data2, op, *, dtype=None, mask=None, engine=unknown):
    """data1 op data2"""
    tensor("tensor_tensor", "data1", data1)
    tensor("tensor_tensor", "data2", data2)
    shape = data1.shape if data1.size >= data2.size else data2.shape
    box = box_of(mask, shape)
    if box is False:
        return give(shape, promoted(data1, data2), None, False, explicit=dtype)
    if data1.shape != data2.shape:
        data1, data2, shape = _as_one_shape(data1, data2)
    x, y = data1.read(within(box, data1.shape)), data2.read(within(box, data2.shape))
    return give(shape, promoted(data1, data2), lambda dst: isa.tensor_tensor(dst, x, y, op, engine=engine), box,
                explicit=dtype)


def _as_one_shape(a, b):
    """Two tiles of one shape: dimensions of size 1 are read again and again."""
    if a.shape[0] != b.shape[0] and 1 not in (a.shape[0], b.shape[0]):
        raise refusal("err_num_partition_mismatch", f"tensor_tensor: {a!r} and {b!r}; expected as many partitions in both")
    if len(a.shape) != len(b.shape):
        if a.size == b.size:
            return a, b, a.shape
        longer = max(len(a.shape), len(b.shape))
        a, b = (t if len(t.shape) == longer else t.reshape(t.shape[:1] + (1,) * (longer - len(t.shape)) + t.shape[1:])
                for t in (a, b))
    shape = tuple(max(x, y) for x, y in zip(a.shape, b.shape))
    return (a if a.shape == shape else a.broadcast_to(shape)), (b if b.shape == shape else b.broadcast_to(shape)), shape


def tensor_tensor_scan(data0, data1, initial, op0, op1, reverse0=False, reverse1=False, *, dtype=None, mask=None):
    """r[i] = (data0[i] op0 r[i - 1]) op1 data1[i]"""
    tensor("tensor_tensor_scan", "data0", data0)
    box = box_of(mask, data0.shape)
    if box is False:
        return give(data0.shape, data0.dtype, None, False, explicit=dtype)
    if isinstance(data1, Tensor) and data1.shape != data0.shape:
        data0, data1, _ = _as_one_shape(data0, data1)
    x, y = data0.read(box), operand("tensor_tensor_scan", "data1", data1, box)
    first = _float(operand("tensor_tensor_scan", "initial", initial, box))
    return give(data0.shape, promoted(data0, data1), lambda dst: isa.tensor_tensor_scan(
        dst, x, y, first, op0, op1, reverse0=reverse0, reverse1=reverse1), box, explicit=dtype)


def scalar_tensor_tensor(*, data, op0, operand0, op1, operand1, reverse0=False, reverse1=False, dtype=None, mask=None):
    """(data op0 operand0) op1 operand1, where operand0 is a number or a column and operand1 a tile."""
    tensor("scalar_tensor_tensor", "data", data)
    box = box_of(mask, data.shape)
    if box is False:
        return give(data.shape, data.dtype, None, False, explicit=dtype)
    if isinstance(operand1, Tensor) and operand1.shape != data.shape:
        data, operand1, _ = _as_one_shape(data, operand1)
    x = data.read(box)
    y, z = operand("scalar_tensor_tensor", "operand0", operand0, box), operand("", "operand1", operand1, box)
    return give(data.shape, promoted(data, operand1), lambda dst: isa.scalar_tensor_tensor(
        dst, x, op0, y, op1, z, reverse0=reverse0, reverse1=reverse1), box, explicit=dtype)
