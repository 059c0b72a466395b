"""A legal call of every instruction: for fuzzing, which spoils them, and as a test that each can be called."""
import nki.isa as nisa
import nki.language as nl

P = 32  # partitions of most tiles


def tile(shape, dtype=nl.float32, value=1, buffer=nl.sbuf):
    """A new tile full of `value`."""
    result = nl.ndarray(shape, dtype=dtype, buffer=buffer)
    if not dtype.is_integer:
        value = float(value)
    if buffer in (nl.sbuf, nl.psum):
        nisa.memset(dst=result, value=value)
        return result
    nisa.dma_copy(dst=result, src=tile(shape, dtype, value))
    return result


def register(value=1):
    return nisa.register_alloc(value)


def hbm(shape, dtype=nl.float32, value=1):
    return tile(shape, dtype, value, nl.shared_hbm)


def x(columns=64, dtype=nl.float32, value=1):
    return tile((P, columns), dtype, value)


def column(dtype=nl.float32, value=1):
    return x(1, dtype, value)


def psum(shape=(P, 64), dtype=nl.float32):
    return tile(shape, dtype, 1, nl.psum)


# By the name of the instruction: a function that gives its arguments.
CALLS = {
    "dma_copy": lambda: dict(dst=x(), src=hbm((P, 64))),
    "tensor_copy": lambda: dict(dst=x(dtype=nl.bfloat16), src=psum()),
    "memset": lambda: dict(dst=x(dtype=nl.int32), value=3),
    "tensor_copy_predicated": lambda: dict(dst=x(), src=x(), predicate=x(dtype=nl.uint8)),
    "nc_matmul": lambda: dict(dst=nl.ndarray((P, 64), nl.float32, nl.psum), stationary=x(P), moving=x(64)),
    "nc_matmul_mx": lambda: dict(dst=nl.ndarray((32, 64), nl.float32, nl.psum),
                                 stationary=tile((32, 32), nl.float8_e5m2_x4, 0), moving=tile((32, 64), nl.float8_e5m2_x4, 0),
                                 stationary_scale=tile((32, 32), nl.uint8, 127), moving_scale=tile((32, 64), nl.uint8, 127)),
    "nc_transpose": lambda: dict(dst=x(P), data=x(P), engine=nisa.engine.vector),
    "dma_transpose": lambda: dict(dst=tile((64, P), nl.bfloat16), src=hbm((P, 64), nl.bfloat16), axes=(1, 0)),
    "tensor_tensor": lambda: dict(dst=x(), data1=x(), data2=x(), op=nl.add),
    "tensor_scalar": lambda: dict(dst=x(), data=x(), op0=nl.multiply, operand0=column(), op1=nl.add, operand1=2.0),
    "tensor_reduce": lambda: dict(dst=column(), op=nl.maximum, data=x(), axis=1),
    "tensor_partition_reduce": lambda: dict(dst=tile((1, 64)), op=nl.add, data=x()),
    "tensor_scalar_cumulative": lambda: dict(dst=x(), src=x(), op0=nl.multiply, op1=nl.add, imm0=2.0),
    "activation": lambda: dict(dst=x(), op=nl.exp, data=x(), bias=column(), scale=0.5),
    "activation_reduce": lambda: dict(dst=x(), op=nl.square, data=x(), reduce_op=nl.add, reduce_res=column()),
    "activate2": lambda: dict(dst=x(), op=nl.exp, data=x(), imm0=1.0, imm1=0.0, op0=nl.multiply, op1=nl.add),
    "iota": lambda: dict(dst=x(dtype=nl.int32), pattern=[[1, 64]], offset=3, channel_multiplier=2),
    "affine_select": lambda: dict(dst=x(), pattern=[[1, 64]], channel_multiplier=-1, on_true_tile=x(), on_false_value=0.0,
                                  cmp_op=nl.greater),
    "local_gather": lambda: dict(dst=x(32), src_buffer=x(64), index=x(2, nl.uint16)),
    "nc_n_gather": lambda: dict(dst=x(16), data=x(), indices=x(16, nl.uint32)),
    "bn_stats": lambda: dict(dst=x(6), data=x()),
    "bn_aggr": lambda: dict(dst=x(2), data=x(6)),
    "tensor_tensor_scan": lambda: dict(dst=x(), data0=x(), data1=x(), initial=0.0, op0=nl.multiply, op1=nl.add),
    "nc_stream_shuffle": lambda: dict(dst=x(), src=x(), shuffle_mask=list(range(31, -1, -1))),
    "rng": lambda: dict(dst=x(dtype=nl.uint32)),
    "dropout": lambda: dict(dst=x(), data=x(), prob=0.5),
    "set_rng_seed": lambda: dict(src_seeds=tile((1, 1), nl.uint32, 7)),
    "rand_set_state": lambda: dict(src_seeds=x(6, nl.uint32)),
    "rand_get_state": lambda: dict(dst=x(6, nl.uint32)),
    "rand2": lambda: dict(dst=x(), min=0.0, max=1.0),
    "exponential": lambda: dict(dst=x(), src=x(), max_value=column()),
    "reciprocal": lambda: dict(dst=x(), data=x()),
    "max8": lambda: dict(dst=x(8), src=x()),
    "sequence_bounds": lambda: dict(dst=tile((1, 2, 64)), segment_ids=tile((1, 64))),
    "scalar_tensor_tensor": lambda: dict(dst=x(), data=x(), op0=nl.multiply, operand0=2.0, op1=nl.add, operand1=x()),
    "tensor_scalar_reduce": lambda: dict(dst=x(), data=x(), op0=nl.add, operand0=1.0, reduce_op=nl.add, reduce_res=column()),
    "core_barrier": lambda: dict(data=hbm((P, 64)), cores=(0, 1)),
    "dma_compute": lambda: dict(dst=x(), srcs=[x(), hbm((P, 64))], reduce_op=nl.add),
    "quantize_mx": lambda: dict(dst=tile((32, 16), nl.float8_e5m2_x4, 0), src=tile((32, 64), nl.bfloat16),
                                dst_scale=tile((32, 16), nl.uint8)),
    "range_select": lambda: dict(dst=x(), on_true_tile=x(), comp_op0=nl.greater_equal, comp_op1=nl.less,
                                 bound0=column(value=1), bound1=column(value=9), reduce_res=column(),
                                 on_false_value=-3.4028235e38),
    "select_reduce": lambda: dict(dst=x(), predicate=x(dtype=nl.uint8), on_true=x(), on_false=0.0),
    "sendrecv": lambda: dict(src=x(), dst=x(), send_to_rank=1 - nl.program_id(), recv_from_rank=1 - nl.program_id(), pipe_id=0),
    "register_move": lambda: dict(dst=register(), src=5),
    "register_load": lambda: dict(dst=register(), src=tile((1, 1), nl.int32, 9)),
    "register_store": lambda: dict(dst=tile((1, 1), nl.int32), src=register()),
    "nc_find_index8": lambda: dict(dst=x(8, nl.uint32), data=x(), vals=x(8)),
    "nc_match_replace8": lambda: dict(dst=x(), data=x(), vals=x(8), imm=0.0),
    "nonzero_with_count": lambda: dict(dst=tile((128, 65), nl.int32), src=tile((128, 64))),
    "topk": lambda: dict(val_dst=tile((128, 8), nl.bfloat16), idx_dst=tile((128, 8), nl.uint32), src=tile((128, 64), nl.bfloat16),
                         n=16),
}
FOURTH_GENERATION = {"nc_matmul_mx", "activate2", "rand2", "exponential", "quantize_mx"}
TWO_CORES = {"core_barrier", "sendrecv"}
