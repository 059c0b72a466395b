"""A trial maker for every deterministic instruction: random legal operands and the NumPy twin, written from the
documents and not from the simulator."""
import math

import nki.isa as nisa
import nki.language as nl
import numpy as np
from twins import FLOATS, INTS, Trial, rounded

ALU = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
    "equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal, "greater": np.greater,
    "greater_equal": np.greater_equal, "logical_and": np.logical_and, "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}
ARITHMETIC = ("add", "subtract", "multiply", "maximum", "minimum")
erf = np.vectorize(math.erf, otypes=[float])
sigmoid = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
FUNCTIONS = {
    "copy": lambda x: x, "square": lambda x: x * x, "exp": np.exp, "tanh": np.tanh, "sigmoid": sigmoid, "abs": np.abs,
    "relu": lambda x: np.maximum(x, 0), "silu": lambda x: x * sigmoid(x), "softplus": lambda x: np.log1p(np.exp(x)),
    "gelu": lambda x: x * 0.5 * (1 + erf(x / math.sqrt(2))), "erf": erf, "sign": np.sign, "arctan": np.arctan,
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))), "sin": np.sin,
}
POSITIVE = {"sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "log": np.log, "reciprocal": lambda x: 1 / x}


def alu(name, a, b):
    """As the engines compute: in fp32."""
    with np.errstate(all="ignore"):
        return ALU[name](np.asarray(a, np.float32), np.asarray(b, np.float32)).astype(np.float32)


def shape(draw, **kwargs):
    return (draw.partitions(),) + draw.free(**kwargs)


def tensor_copy(draw):
    s = shape(draw)
    src, dst = draw.source(s, draw.one_of(FLOATS + INTS)), draw.operand(s, draw.one_of(FLOATS + INTS))
    return Trial(lambda w, r: nisa.tensor_copy(dst=w[0], src=r[0]), lambda: [src.flat], [src], [dst])


def memset(draw):
    dst = draw.operand(shape(draw), draw.one_of(FLOATS + INTS))
    value = draw.size(100) if dst.array.dtype.kind in "iu" else draw.size(100) / 8
    return Trial(lambda w, r: nisa.memset(dst=w[0], value=value), lambda: [np.full(dst.value.shape, value)], [], [dst])


def tensor_copy_predicated(draw):
    s, dtype = shape(draw), draw.one_of(FLOATS)
    src, dst = draw.operand(s, dtype), draw.operand(s, dtype)
    predicate = draw.operand(s, draw.one_of(("uint8", "uint16")), 0, 0.13)
    reverse = draw.chance()
    chosen = lambda: np.where((predicate.flat != 0) != reverse, src.flat, dst.flat)  # noqa: E731
    return Trial(lambda w, r: nisa.tensor_copy_predicated(dst=w[0], src=r[0], predicate=r[1], reverse_pred=reverse),
                 lambda: [chosen()], [src, predicate], [dst])


def tensor_tensor(draw):
    s, op = shape(draw), draw.one_of(tuple(ALU))
    a, b = draw.source(s, draw.one_of(FLOATS)), draw.operand(s, draw.one_of(FLOATS))
    dst = draw.operand(s, draw.one_of(FLOATS))
    return Trial(lambda w, r: nisa.tensor_tensor(dst=w[0], data1=r[0], data2=r[1], op=getattr(nl, op)),
                 lambda: [alu(op, a.flat, b.flat)], [a, b], [dst])


def tensor_tensor_bits(draw):
    s, op, dtype = shape(draw), draw.one_of(("bitwise_and", "bitwise_or", "bitwise_xor")), draw.one_of(INTS)
    a, b, dst = draw.operand(s, dtype), draw.operand(s, dtype), draw.operand(s, dtype)
    return Trial(lambda w, r: nisa.tensor_tensor(dst=w[0], data1=r[0], data2=r[1], op=getattr(nl, op)),
                 lambda: [getattr(np, op)(a.value, b.value)], [a, b], [dst])


def tensor_tensor_int32(draw):
    """GpSimd adds and multiplies 32-bit integers exactly."""
    s, op = shape(draw), draw.one_of(("add", "subtract", "multiply"))
    a, b, dst = (draw.operand(s, "int32", -1e7, 1e7) for _ in range(3))
    with np.errstate(over="ignore"):
        value = getattr(np, op)(a.value, b.value)
    return Trial(lambda w, r: nisa.tensor_tensor(dst=w[0], data1=r[0], data2=r[1], op=getattr(nl, op),
                                                 engine=nisa.engine.gpsimd), lambda: [value], [a, b], [dst])




def tensor_scalar(draw):
    s = shape(draw)
    data, dst = draw.source(s, draw.one_of(FLOATS)), draw.operand(s, draw.one_of(FLOATS))
    (a, va, ra), (b, vb, rb) = draw.scalar(s[0]), draw.scalar(s[0])
    op0, op1, reverse0, reverse1 = draw.one_of(ARITHMETIC), draw.one_of(ARITHMETIC), draw.chance(), draw.chance()

    def call(w, r):
        views = r[1:]
        nisa.tensor_scalar(dst=w[0], data=r[0], op0=getattr(nl, op0), operand0=a(views), reverse0=reverse0,
                           op1=getattr(nl, op1), operand1=b(views), reverse1=reverse1)

    def twin():
        first = alu(op0, va, data.flat) if reverse0 else alu(op0, data.flat, va)
        return [alu(op1, vb, first) if reverse1 else alu(op1, first, vb)]

    return Trial(call, twin, [data] + ra + rb, [dst])


def scalar_tensor_tensor(draw):
    s = shape(draw)
    data, other, dst = draw.source(s, draw.one_of(FLOATS)), draw.operand(s), draw.operand(s, draw.one_of(FLOATS))
    a, va, ra = draw.scalar(s[0])
    op0, op1, reverse0, reverse1 = draw.one_of(ARITHMETIC), draw.one_of(ARITHMETIC), draw.chance(), draw.chance()

    def call(w, r):
        views = r[2:]
        nisa.scalar_tensor_tensor(dst=w[0], data=r[0], op0=getattr(nl, op0), operand0=a(views), op1=getattr(nl, op1),
                                  operand1=r[1], reverse0=reverse0, reverse1=reverse1)

    def twin():
        first = alu(op0, va, data.flat) if reverse0 else alu(op0, data.flat, va)
        return [alu(op1, other.flat, first) if reverse1 else alu(op1, first, other.flat)]

    return Trial(call, twin, [data, other] + ra, [dst])


def tensor_reduce(draw):
    s, op, negate = shape(draw), draw.one_of(("add", "maximum", "minimum")), draw.chance()
    axes = draw.size(len(s) - 1)  # the last so many
    data, dst = draw.source(s, draw.one_of(FLOATS)), draw.operand(s[:len(s) - axes] or s[:1], "float32")
    if len(s) == axes + 1:
        dst = draw.operand((s[0], 1), "float32")
    axis = tuple(range(len(s) - axes, len(s)))
    reduce = {"add": np.sum, "maximum": np.max, "minimum": np.min}[op]
    return Trial(lambda w, r: nisa.tensor_reduce(dst=w[0], op=getattr(nl, op), data=r[0], axis=axis, negate=negate),
                 lambda: [(-1 if negate else 1) * reduce(data.value.astype(np.float64), axis=axis)], [data], [dst], 2e-5)


def tensor_partition_reduce(draw):
    s, op = (draw.partitions(),) + draw.free(dims=1), draw.one_of(("add", "maximum"))
    data, dst = draw.operand(s, draw.one_of(FLOATS)), draw.operand((1,) + s[1:])
    reduce = {"add": np.sum, "maximum": np.max}[op]
    return Trial(lambda w, r: nisa.tensor_partition_reduce(dst=w[0], op=getattr(nl, op), data=r[0]),
                 lambda: [reduce(data.flat, axis=0)], [data], [dst], 2e-5)


def tensor_scalar_reduce(draw):
    s = shape(draw)
    data, dst, total = draw.source(s, draw.one_of(FLOATS)), draw.operand(s), draw.operand((s[0], 1))
    a, va, ra = draw.scalar(s[0])
    op0, reduce_op = draw.one_of(ARITHMETIC), draw.one_of(("add", "maximum", "minimum"))
    reduce = {"add": np.sum, "maximum": np.max, "minimum": np.min}[reduce_op]

    def call(w, r):
        views = r[1:]
        nisa.tensor_scalar_reduce(dst=w[0], data=r[0], op0=getattr(nl, op0), operand0=a(views),
                                  reduce_op=getattr(nl, reduce_op), reduce_res=w[1])

    def twin():
        first = alu(op0, data.flat, va)
        return [first, reduce(first.astype(np.float64), axis=1)]

    return Trial(call, twin, [data] + ra, [dst, total], 2e-5)


def tensor_scalar_cumulative(draw):
    s = (draw.partitions(), draw.size(40))
    src, dst = draw.operand(s, draw.one_of(FLOATS)), draw.operand(s)
    a, va, ra = draw.scalar(s[0])
    op0, op1 = draw.one_of(ARITHMETIC), draw.one_of(("add", "maximum", "minimum"))
    running = {"add": np.cumsum, "maximum": np.maximum.accumulate, "minimum": np.minimum.accumulate}[op1]

    def call(w, r):
        views = r[1:]
        nisa.tensor_scalar_cumulative(dst=w[0], src=r[0], op0=getattr(nl, op0), op1=getattr(nl, op1), imm0=a(views))

    return Trial(call, lambda: [running(alu(op0, src.flat, va).astype(np.float64), axis=1)], [src] + ra, [dst], 5e-5)


def tensor_tensor_scan(draw):
    s = (draw.partitions(), draw.size(30))
    d0, d1, dst = draw.operand(s, low=-1, high=1), draw.operand(s), draw.operand(s)
    start, vs, rs = draw.scalar(s[0])

    def call(w, r):
        views = r[2:]
        nisa.tensor_tensor_scan(dst=w[0], data0=r[0], data1=r[1], initial=start(views), op0=nl.multiply, op1=nl.add)

    def twin():
        out, state = [], vs[:, 0]
        for i in range(s[1]):
            state = d0.flat[:, i] * state + d1.flat[:, i]
            out.append(state)
        return [np.stack(out, axis=1)]

    return Trial(call, twin, [d0, d1] + rs, [dst], 5e-5)


def activation(draw):
    s = shape(draw)
    positive = draw.chance(0.3)
    table = POSITIVE if positive else FUNCTIONS
    name = draw.one_of(tuple(table))
    low, high = (0.3, 4.0) if positive else (-3.0, 3.0)
    data, dst = draw.source(s, draw.one_of(FLOATS), low, high), draw.operand(s, draw.one_of(FLOATS))
    scale = float(draw.one_of((1.0, 0.5, 0.25)))
    bias = draw.operand((s[0], 1), low=0.0, high=0.1) if draw.chance() and name not in ("copy",) else None

    def call(w, r):
        nisa.activation(dst=w[0], op=getattr(nl, name), data=r[0], scale=scale, bias=r[1] if bias else None)

    def twin():
        return [table[name](data.flat * scale + (bias.flat if bias else 0))]

    return Trial(call, twin, [data] + ([bias] if bias else []), [dst], 5e-6)


def activation_reduce(draw):
    s = shape(draw)
    name = draw.one_of(("exp", "square", "sigmoid"))
    data, dst, total = draw.source(s, low=-2, high=2), draw.operand(s), draw.operand((s[0], 1))
    return Trial(lambda w, r: nisa.activation_reduce(dst=w[0], op=getattr(nl, name), data=r[0], reduce_op=nl.add,
                                                     reduce_res=w[1]),
                 lambda: [FUNCTIONS[name](data.flat), FUNCTIONS[name](data.flat).sum(axis=1)], [data], [dst, total], 2e-5)


def reciprocal(draw):
    s = shape(draw)
    data, dst = draw.source(s, draw.one_of(FLOATS), 0.5, 4.0), draw.operand(s, draw.one_of(FLOATS))
    return Trial(lambda w, r: nisa.reciprocal(dst=w[0], data=r[0]), lambda: [1 / data.flat], [data], [dst])


def nc_matmul(draw):
    k, m, n = draw.size(128), draw.size(128), draw.size(512)
    dtype = draw.one_of(("float32", "bfloat16", "float16"))
    a, b = draw.operand((k, m), dtype, -1, 1, dense=k > 64), draw.operand((k, n), dtype, -1, 1, dense=k > 64)
    a, b = draw.operand((k, m), dtype, -1, 1), draw.operand((k, n), dtype, -1, 1)
    dst = draw.operand((m, n), "float32", buffer="psum", dense=True)
    return Trial(lambda w, r: nisa.nc_matmul(dst=w[0], stationary=r[0], moving=r[1], accumulate=False),
                 lambda: [a.flat.T @ b.flat], [a, b], [dst], 2e-5)


def nc_transpose(draw):
    p, f = draw.size(32), draw.size(32)
    data, dst = draw.operand((p, f), draw.one_of(("float32", "bfloat16"))), None
    dst = draw.operand((f, p), data.array.dtype.name)
    return Trial(lambda w, r: nisa.nc_transpose(dst=w[0], data=r[0], engine=nisa.engine.vector),
                 lambda: [data.flat.T], [data], [dst])


def dma_copy(draw):
    s = shape(draw)
    src, dst = draw.operand(s, draw.one_of(FLOATS)), draw.operand(s, draw.one_of(FLOATS))
    return Trial(lambda w, r: nisa.dma_copy(dst=w[0], src=r[0]), lambda: [src.flat], [src], [dst])


def dma_transpose(draw):
    p, f = draw.one_of((16, 32, 64)), draw.one_of((16, 32, 64, 128))
    src, dst = draw.operand((p, f), "bfloat16", dense=True), draw.operand((f, p), "bfloat16", dense=True)
    return Trial(lambda w, r: nisa.dma_transpose(dst=w[0], src=r[0], axes=(1, 0)), lambda: [src.flat.T], [src], [dst])


def dma_compute(draw):
    s = (draw.partitions(), draw.size(40))
    sources = [draw.operand(s, draw.one_of(("float32", "bfloat16"))) for _ in range(draw.size(4, 2))]
    dst = draw.operand(s)
    return Trial(lambda w, r: nisa.dma_compute(dst=w[0], srcs=tuple(r), reduce_op=nl.add),
                 lambda: [sum(source.flat for source in sources)], sources, [dst])


def affine(draw, partitions, sizes):
    steps = [draw.size(7) - 4 for _ in sizes]
    offset, multiplier = draw.size(40) - 20, draw.size(5) - 3
    value = np.full((partitions,) + tuple(sizes), offset, np.int64)
    value += multiplier * np.arange(partitions).reshape((-1,) + (1,) * len(sizes))
    for d, (step, size) in enumerate(zip(steps, sizes)):
        value += step * np.arange(size).reshape((1,) * (d + 1) + (-1,) + (1,) * (len(sizes) - d - 1))
    return [[step, size] for step, size in zip(steps, sizes)], offset, multiplier, value


def iota(draw):
    p, sizes = draw.partitions(), draw.free()
    pattern, offset, multiplier, value = affine(draw, p, sizes)
    dst = draw.operand((p,) + sizes, draw.one_of(("int32", "float32")))
    return Trial(lambda w, r: nisa.iota(dst=w[0], pattern=pattern, offset=offset, channel_multiplier=multiplier),
                 lambda: [value], [], [dst])


def affine_select(draw):
    p, sizes = draw.partitions(), draw.free()
    pattern, offset, multiplier, value = affine(draw, p, sizes)
    data, dst = draw.operand((p,) + sizes, draw.one_of(FLOATS)), draw.operand((p,) + sizes, draw.one_of(FLOATS))
    op = draw.one_of(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"))
    return Trial(lambda w, r: nisa.affine_select(dst=w[0], pattern=pattern, offset=offset, channel_multiplier=multiplier,
                                                 on_true_tile=r[0], on_false_value=-2.5, cmp_op=getattr(nl, op)),
                 lambda: [np.where(ALU[op](value, 0), data.value.astype(np.float64), -2.5)], [data], [dst])


def range_select(draw):
    s = (draw.partitions(), draw.size(40, 2))
    data, dst, best = draw.operand(s), draw.operand(s), draw.operand((s[0], 1))
    low, high = (draw.operand((s[0], 1), low=0, high=s[1]) for _ in range(2))
    start, least = draw.size(4), float(np.finfo(np.float32).min)

    def twin():
        index = start + np.arange(s[1])
        chosen = np.where((index >= low.flat) & (index < high.flat), data.flat, least)
        return [chosen, chosen.max(axis=1)]

    return Trial(lambda w, r: nisa.range_select(dst=w[0], on_true_tile=r[0], comp_op0=nl.greater_equal, comp_op1=nl.less,
                                                bound0=r[1], bound1=r[2], reduce_res=w[1], reduce_op=nl.maximum,
                                                range_start=start, on_false_value=least),
                 twin, [data, low, high], [dst, best])


def select_reduce(draw):
    s, reverse = (draw.partitions(), draw.size(40)), draw.chance()
    data, dst, best = draw.operand(s), draw.operand(s), draw.operand((s[0], 1))
    predicate = draw.operand(s, draw.one_of(("uint8", "int16")), 0, 0.13)

    def twin():
        chosen = np.where((predicate.flat != 0) != reverse, data.flat, -1.5)
        return [chosen, chosen.max(axis=1)]

    return Trial(lambda w, r: nisa.select_reduce(dst=w[0], predicate=r[1], on_true=r[0], on_false=-1.5, reduce_res=w[1],
                                                 reduce_cmd=nisa.reduce_cmd.reset_reduce, reduce_op=nl.maximum,
                                                 reverse_pred=reverse), twin, [data, predicate], [dst, best])


def local_gather(draw):
    p, width, count = draw.one_of((16, 32, 64, 128)), draw.size(64), draw.size(6)
    data, dst = draw.operand((p, width), dense=True), draw.operand((p, 16 * count), dense=True)
    index = draw.operand((p, count), "uint16", dense=True, values=draw.random.integers(0, width, (p, count)))

    def twin():
        out = np.empty((p, 16 * count))
        for core in range(p // 16):
            rows = slice(16 * core, 16 * core + 16)
            flat = index.value[rows].T.reshape(-1)  # along partitions first
            out[rows] = data.flat[rows][:, flat.astype(np.int64)]
        return [out]

    return Trial(lambda w, r: nisa.local_gather(dst=w[0], src_buffer=r[0], index=r[1]), twin, [data, index], [dst])


def nc_n_gather(draw):
    p, width, count = draw.partitions(), draw.size(64), draw.size(40)
    data, dst = draw.operand((p, width)), draw.operand((p, count))
    index = draw.operand((p, count), "uint32", values=draw.random.integers(0, width, (p, count)), low=0)
    return Trial(lambda w, r: nisa.nc_n_gather(dst=w[0], data=r[0], indices=r[1]),
                 lambda: [np.take_along_axis(data.flat, index.value.astype(np.int64), axis=1)], [data, index], [dst])


def bn_stats(draw):
    s = (draw.partitions(), draw.size(200, 2))
    data, dst = draw.source(s), draw.operand((s[0], 6))

    def twin():
        columns = []
        for part in (data.flat[:, 0::2], data.flat[:, 1::2]):
            columns += [np.full(s[0], part.shape[1]), part.mean(axis=1), part.var(axis=1) * part.shape[1]]
        return [np.stack(columns, axis=1)]

    return Trial(lambda w, r: nisa.bn_stats(dst=w[0], data=r[0]), twin, [data], [dst], 1e-4)


def bn_aggr(draw):
    p, groups = draw.partitions(), draw.size(8)
    counts = draw.random.integers(1, 60, (p, groups))
    means, spreads = draw.random.normal(size=(p, groups)), draw.random.random((p, groups)) * counts
    triples = np.stack([counts, means, spreads], axis=2).reshape(p, 3 * groups)
    data, dst = draw.operand((p, 3 * groups), values=triples), draw.operand((p, 2))

    def twin():
        mean = (counts * means).sum(axis=1) / counts.sum(axis=1)
        spread = (spreads + counts * (means - mean[:, None])**2).sum(axis=1) / counts.sum(axis=1)
        return [np.stack([mean, spread], axis=1)]

    return Trial(lambda w, r: nisa.bn_aggr(dst=w[0], data=r[0]), twin, [data], [dst], 1e-4)


def max8(draw):
    s = (draw.partitions(), draw.size(60, 8))
    src, dst = draw.operand(s, draw.one_of(FLOATS)), draw.operand((s[0], 8))
    return Trial(lambda w, r: nisa.max8(dst=w[0], src=r[0]), lambda: [-np.sort(-src.flat, axis=1)[:, :8]], [src], [dst])


def distinct(draw, p, width):
    """Numbers that do not repeat within a partition, exact in every float type."""
    return np.stack([draw.random.permutation(width) - width // 2 for _ in range(p)]).astype(np.float32)


def nc_find_index8(draw):
    p, width = draw.partitions(), draw.size(60, 8)
    data = draw.operand((p, width), values=distinct(draw, p, width))
    places = np.stack([draw.random.permutation(width)[:8] for _ in range(p)])
    vals = draw.operand((p, 8), values=np.take_along_axis(data.flat, places, axis=1))
    dst = draw.operand((p, 8), "uint32", low=0)
    return Trial(lambda w, r: nisa.nc_find_index8(dst=w[0], data=r[0], vals=r[1]), lambda: [places], [data, vals], [dst])


def nc_match_replace8(draw):
    p, width = draw.partitions(), draw.size(60, 8)
    data = draw.operand((p, width), values=distinct(draw, p, width))
    places = np.stack([draw.random.permutation(width)[:8] for _ in range(p)])
    vals = draw.operand((p, 8), values=np.take_along_axis(data.flat, places, axis=1))
    dst = draw.operand((p, width))

    def twin():
        out = data.flat.copy()
        np.put_along_axis(out, places, 99.0, axis=1)
        return [out]

    return Trial(lambda w, r: nisa.nc_match_replace8(dst=w[0], data=r[0], vals=r[1], imm=99.0), twin, [data, vals], [dst])


def nc_stream_shuffle(draw):
    p = draw.one_of((32, 64, 128))
    width, mask = draw.size(40), [draw.size(32) - 1 if draw.chance(0.8) else 255 for _ in range(32)]
    src, dst = draw.operand((p, width)), draw.operand((p, width))

    def twin():
        out = dst.flat.copy()
        for quadrant in range(0, p, 32):
            for i, source in enumerate(mask):
                if source != 255:
                    out[quadrant + i] = src.flat[quadrant + source]
        return [out]

    return Trial(lambda w, r: nisa.nc_stream_shuffle(dst=w[0], src=r[0], shuffle_mask=mask), twin, [src], [dst])


def sequence_bounds(draw):
    ids = np.repeat(draw.random.integers(0, 5, 12), draw.random.integers(1, 6, 12))
    runs = np.concatenate([[i] * int(n) for i, n in enumerate(np.bincount(ids, minlength=5)) if i])
    ids = np.concatenate([runs, np.zeros(4)]).astype(np.float32)[None, :]
    n = ids.shape[1]
    data = draw.operand((1, n), "float32", values=ids, dense=True)
    dst = draw.operand((1, 2, n), "float32", dense=True)

    def twin():
        first = [n if i == 0 else int(np.argmax(ids[0] == i)) for i in ids[0]]
        last = [-1 if i == 0 else int(n - np.argmax(ids[0][::-1] == i)) for i in ids[0]]
        return [np.array([first, last])]

    return Trial(lambda w, r: nisa.sequence_bounds(dst=w[0], segment_ids=r[0]), twin, [data], [dst])


def nonzero_with_count(draw):
    width, offset = draw.size(40), draw.size(100)
    data = draw.operand((128, width), dense=True, values=draw.random.integers(0, 3, (128, width)))
    dst = draw.operand((128, width + 1), "int32", dense=True)

    def twin():
        out = dst.value.astype(np.int64)
        for p in range(0, 128, 16):
            found = np.flatnonzero(data.flat[p])
            out[p] = -7
            out[p, :len(found)] = found + offset
            out[p, width] = len(found)
        return [out]

    return Trial(lambda w, r: nisa.nonzero_with_count(dst=w[0], src=r[0], index_offset=offset, padding_val=-7), twin,
                 [data], [dst])


def topk(draw):
    cores, n = draw.one_of((1, 2, 8)), draw.size(60, 9)
    width, k = -(-n // 16), draw.size(8)
    values = np.stack([draw.random.permutation(16 * width) for _ in range(cores)]).astype(np.float32)
    tile = values.reshape(cores, width, 16).transpose(0, 2, 1).reshape(16 * cores, width)
    src = draw.operand((16 * cores, width), "bfloat16", dense=True, values=tile)
    val, idx = (draw.operand((16 * cores, k), t, low=0, dense=True) for t in ("bfloat16", "uint32"))

    def snake(dst, rows):
        """Results lie as the source does: the first sixteen in column 0 of the group's partitions."""
        out = dst.flat.copy()
        for core, row in enumerate(rows):
            for i, value in enumerate(row):
                out[16 * core + i % 16, i // 16] = value
        return out

    def twin():
        order = np.argsort(values[:, :n], axis=1)[:, n - k:]
        return [snake(val, np.take_along_axis(values, order, axis=1)), snake(idx, order)]

    return Trial(lambda w, r: nisa.topk(val_dst=w[0], idx_dst=w[1], src=r[0], n=n), twin, [src], [val, idx])


def register_move(draw):
    value = draw.size(1 << 20)
    dst = draw.operand((1, 1), "int32", dense=True)

    def call(w, r):
        register = nisa.register_alloc()
        nisa.register_move(register, value)
        nisa.register_store(w[0], register)

    return Trial(call, lambda: [[[value]]], [], [dst])


def register_load(draw):
    src, dst = (draw.operand((1, 1), "int32", dense=True) for _ in range(2))

    def call(w, r):
        register = nisa.register_alloc()
        nisa.register_load(register, r[0])
        nisa.register_store(w[0], register)

    return Trial(call, lambda: [src.value], [src], [dst])


TRIALS = {name: value for name, value in list(globals().items())
          if callable(value) and getattr(value, "__code__", None) and value.__code__.co_varnames[:1] == ("draw",)
          and value.__code__.co_argcount == 1 and name not in ("shape",)}
