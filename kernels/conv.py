"""Short causal convolution over time, channel by channel: the host ops `causal_conv` and `causal_conv_grad`.

    y[t] = sum_k w[k] x[t - k]        x [batch, T, width], w [taps, width] fp32, x zero before its row's start
    dx[t] = sum_k w[k] dy[t + k]      dw + sum_t dy[t] x[t - k]
Channels lie on partitions and time along them, so a shift in time is another slice and a weight is one number a partition.
"""
import nki
import nki.isa as nisa
import nki.language as nl

from tiles import PARTITIONS, hbm, length, load, load_transposed_into, pieces, psum, sbuf

TIMES = 1024  # of a tile


def causal_conv_reference(x, w):
    import numpy as np
    wide, y = np.asarray(x, dtype=np.float32), 0
    for k in range(w.shape[0]):
        y = y + np.pad(wide, ((0, 0), (k, 0), (0, 0)))[:, :wide.shape[1]] * np.asarray(w)[k]
    return y.astype(x.dtype)


@nki.jit
def causal_conv(x, w):
    batch, time, width = x.shape
    out = hbm(x.shape, x.dtype)
    channels = pieces(width, PARTITIONS)
    weights = [weights_of(w, columns) for columns in channels]
    last = w.shape[0] - 1
    for b in nl.affine_range(batch):
        for here in pieces(time, TIMES):
            results = []
            for columns, of_channel in zip(channels, weights):
                tile = with_past(x, b, here, columns, last)
                results.append(taps(tile, of_channel, [last - k for k in range(last + 1)], length(here), x.dtype))
            store_turned(out, b, here, channels, results)
    return out


def weights_of(w, columns):
    """w[:, columns] as [channels, taps]."""
    rows = load(w[:, columns])
    turned, weights = psum((length(columns), w.shape[0])), sbuf((length(columns), w.shape[0]))
    nisa.nc_transpose(dst=turned, data=rows, engine=nisa.engine.tensor)
    nisa.tensor_copy(dst=weights, src=turned)
    return weights


def with_past(x, b, here, columns, past):
    """x[b, here, columns] as [channels, past + times], the times before `here` first; zero before the row's start."""
    tile = sbuf((length(columns), past + length(here)), x.dtype)
    known = min(past, here.start)
    if known < past:
        nisa.memset(dst=tile[:, :past - known], value=0.0)
    load_transposed_into(tile[:, past - known:], x[b, here.start - known:here.stop, columns])
    return tile


def with_future(x, b, here, columns, future):
    """x[b, here, columns] as [channels, times + future]; zero behind the row's end."""
    tile = sbuf((length(columns), length(here) + future), x.dtype)
    known = min(future, x.shape[1] - here.stop)
    if known < future:
        nisa.memset(dst=tile[:, length(here) + known:], value=0.0)
    load_transposed_into(tile[:, :length(here) + known], x[b, here.start:here.stop + known, columns])
    return tile


def taps(tile, weights, shifts, count, dtype):
    """The sum over taps of weights[:, k] tile[:, shifts[k] …]: [channels, count], summed in fp32, then of type dtype."""
    total = sbuf((tile.shape[0], count), nl.float32 if len(shifts) > 1 else dtype)
    nisa.activation(dst=total, op=nl.copy, data=tile[:, shifts[0]:shifts[0] + count], scale=weights[:, 0:1])
    for k in range(1, len(shifts)):
        more = sbuf((tile.shape[0], count), nl.float32 if k + 1 < len(shifts) else dtype)
        nisa.scalar_tensor_tensor(dst=more, data=tile[:, shifts[k]:shifts[k] + count], op0=nl.multiply,
                                  operand0=weights[:, k:k + 1], op1=nl.add, operand1=total)
        total = more
    return total


def store_turned(out, b, here, channels, results):
    """out[b, here] from a tile [channels, times] for each 128 channels. Blocks of 128 by 128 leave PSUM four at a time."""
    for few in pieces(length(here), PARTITIONS):
        rows = sbuf((length(few), out.shape[2]), out.dtype)
        for some in pieces(len(channels), 4):
            columns = slice(channels[some][0].start, channels[some][-1].stop)
            turned = psum((length(few), length(columns)), out.dtype)
            for channel, result in zip(channels[some], results[some]):
                nisa.nc_transpose(dst=turned[:, channel.start - columns.start:channel.stop - columns.start],
                                  data=result[:, few], engine=nisa.engine.tensor)
            nisa.tensor_copy(dst=rows[:, columns], src=turned)
        nisa.dma_copy(dst=out[b, here.start + few.start:here.start + few.stop, :], src=rows)


def causal_conv_grad_reference(dy, x, w, dw=None):
    import numpy as np
    g, wide, count = np.asarray(dy, dtype=np.float32), np.asarray(x, dtype=np.float32), w.shape[0]
    time = g.shape[1]
    dx, sums = 0, []
    for k in range(count):
        dx = dx + np.pad(g, ((0, 0), (0, k), (0, 0)))[:, k:k + time] * np.asarray(w)[k]
        sums.append((g * np.pad(wide, ((0, 0), (k, 0), (0, 0)))[:, :time]).sum(axis=(0, 1)))
    return dx.astype(dy.dtype), (np.stack(sums) + (0 if dw is None else dw)).astype(np.float32)


@nki.jit
def causal_conv_grad(dy, x, w, dw=None):
    """dx, dw. GpSimd makes the products of dw and Scalar sums them, Vector does dx."""
    batch, time, width = x.shape
    last = w.shape[0] - 1
    dx, new_dw = hbm(x.shape, dy.dtype), hbm(w.shape)
    channels = pieces(width, PARTITIONS)
    weights = [weights_of(w, columns) for columns in channels]
    places = [(b, here) for b in range(batch) for here in pieces(time, TIMES)]
    sums = [sbuf((length(columns), last + 1, len(places))) for columns in channels]
    for n, (b, here) in enumerate(places):
        results = []
        for columns, of_channel, total in zip(channels, weights, sums):
            past, future = with_past(x, b, here, columns, last), with_future(dy, b, here, columns, last)
            results.append(taps(future, of_channel, range(last + 1), length(here), dy.dtype))
            for k in range(last + 1):
                product, unread = sbuf((length(columns), length(here))), sbuf((length(columns), length(here)), nl.bfloat16)
                nisa.tensor_tensor(dst=product, data1=future[:, :length(here)],
                                   data2=past[:, last - k:last - k + length(here)], op=nl.multiply,
                                   engine=nisa.engine.gpsimd)
                nisa.activation_reduce(dst=unread, op=nl.copy, data=product, reduce_op=nl.add,
                                       reduce_res=total[:, k, n:n + 1])
        store_turned(dx, b, here, channels, results)
    for columns, total in zip(channels, sums):
        store_weights(new_dw, columns, total, dw)
    return dx, new_dw


def store_weights(new_dw, columns, sums, dw):
    total = sbuf((length(columns), sums.shape[1]))
    nisa.tensor_reduce(dst=total, op=nl.add, data=sums, axis=2)
    turned, rows = psum((sums.shape[1], length(columns))), sbuf((sums.shape[1], length(columns)))
    nisa.nc_transpose(dst=turned, data=total, engine=nisa.engine.tensor)
    if dw != None:
        nisa.tensor_tensor(dst=rows, data1=turned, data2=load(dw[:, columns]), op=nl.add)
    else:
        nisa.tensor_copy(dst=rows, src=turned)
    nisa.dma_copy(dst=new_dw[:, columns], src=rows)
