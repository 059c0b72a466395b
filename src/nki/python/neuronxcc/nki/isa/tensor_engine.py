"""Products and transposes."""
from nki import isa
from neuronxcc.nki._call import box_of, give, in_allocated_kernel, psum, sbuf, state, tensor
from neuronxcc.nki._errors import error, refusal

unknown = isa.engine.unknown


def _matmul_boxes(mask, stationary, moving):
    """What a mask over the result's positions [M, N] leaves of both operands: contraction is not masked."""
    shape = (stationary.size // stationary.shape[0], moving.size // moving.shape[0])
    box = box_of(mask, shape)
    if box is None or box is False:
        return None, None, box
    rows, columns = box
    return [(0, stationary.shape[0]), rows], [(0, moving.shape[0]), columns], box


def _of_one_type(stationary, moving):
    """A simulated bfloat16 that stayed float32 (_run.py) as what the other operand is."""
    from neuronxcc.nki.isa.movement import tensor_copy
    if stationary.dtype == "float32" and moving.dtype == "bfloat16":
        return tensor_copy(stationary, dtype=moving.dtype), moving
    if moving.dtype == "float32" and stationary.dtype == "bfloat16":
        return stationary, tensor_copy(moving, dtype=stationary.dtype)
    return stationary, moving


def _check_sizes(stationary, moving):
    for operand, limit in ((stationary, 128), (moving, 512)):
        if operand.shape[-1] > limit or (len(operand.shape) == 2 and operand.size // operand.shape[0] > limit):
            raise refusal("err_size_of_dimension_exceed_arch_limit", f"nc_matmul: {operand!r}; expected at most {limit} columns")


def nc_matmul(stationary, moving, *, is_stationary_onezero=False, is_moving_onezero=False, is_transpose=False,
              tile_position=(), tile_size=(), mask=None, perf_mode=None, **_):
    """stationary.T @ moving in PSUM, contracted over partitions; `psum += nc_matmul(…)` accumulates."""
    tensor("nc_matmul", "stationary", stationary)
    tensor("nc_matmul", "moving", moving)
    if stationary.shape[0] != moving.shape[0]:
        raise refusal("err_num_partition_mismatch", f"nc_matmul: {stationary!r} and {moving!r}; expected as many partitions "
                      "in both, as they are contracted")
    _check_sizes(stationary, moving)
    double = perf_mode in ("double_row", "double_row_gen3")
    weights_box, moving_box, box = (None, None, box_of(mask, (1, 1))) if double else _matmul_boxes(mask, stationary, moving)
    shape = (stationary.shape[-1] if double else stationary.size // stationary.shape[0],) + tuple(
        moving.shape[2:] if double else moving.shape[1:])
    if box is False:
        return give(shape, "float32", None, False, psum)
    if stationary.dtype != moving.dtype and state.run is not None and state.run.keeps_float32:
        stationary, moving = _of_one_type(stationary, moving)
    weights, data = stationary.read(weights_box), moving.read(moving_box)
    more = {"perf_mode": isa.matmul_perf_mode.double_row} if double else {}
    if tile_position or tile_size:
        more.update(tile_position=tuple(tile_position), tile_size=tuple(tile_size))

    def issue(dst, accumulate=False):
        isa.nc_matmul(dst, weights, data, is_stationary_onezero=is_stationary_onezero, is_moving_onezero=is_moving_onezero,
                      is_transpose=is_transpose, accumulate=accumulate, **more)
    return give(shape, stationary.dtype if is_transpose else "float32", issue, box, psum, product=issue)


def nc_transpose(data, *, mask=None, dtype=None, engine=unknown):
    """data[p, f] at [f, p]: in PSUM by the Tensor engine, in SBUF by the Vector engine."""
    tensor("nc_transpose", "data", data)
    rows, columns = data.shape[0], data.size // data.shape[0]
    box = box_of(mask, (rows, columns))
    if box is False:
        return give((columns, rows), data.dtype, None, False, explicit=dtype)
    by_vector = engine is isa.engine.vector or (engine is unknown and rows <= 32 and columns <= 32)
    if not by_vector and (rows > 128 or columns > 128):
        raise error("free-size", f"nc_transpose: {data!r}; expected at most 128 x 128")
    if not by_vector and in_allocated_kernel():
        raise refusal("err_transpose_on_tensor_engine_not_allowed_in_allocated_kernel", "nc_transpose by the Tensor engine in a "
                      "kernel that places its tiles; multiply with an identity matrix that it has placed: nc_matmul(data, "
                      "identity)")
    x = data.read(box)
    left = None if box is None else [box[1], box[0]]
    issue = _transpose_by_vector if by_vector else _transpose_by_tensor
    return give((columns, rows), data.dtype, lambda dst: issue(dst, x), left, sbuf if by_vector else psum, explicit=dtype)


def _transpose_by_tensor(dst, x):
    isa.nc_transpose(dst, x, engine=isa.engine.tensor)


def _transpose_by_vector(dst, x):
    """The Vector engine transposes squares of 32; the tool chain makes larger ones of those."""
    rows, columns = x.shape[0], x.size // x.shape[0]
    if rows <= 32 and columns <= 32 or x.ndim > 2 or dst.ndim > 2:
        isa.nc_transpose(dst, x, engine=isa.engine.vector)
        return
    for row in range(0, rows, 32):
        for column in range(0, columns, 32):
            part = x[row:row + 32, column:column + 32]
            isa.nc_transpose(dst[column:column + 32, row:row + 32], part, engine=isa.engine.vector)
