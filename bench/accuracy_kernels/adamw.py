"""AdamW with constant step factors, as the AdamW study writes it: four loads, two activations and four fused Vector
instructions, one store. The study varies the width of a tile; the first kernel takes rows of the matrix instead.

    v_hat = 999 v + g^2,   new theta = 0.99999 theta - 0.001 (9 m + g) / sqrt(v_hat)
"""
import nki
import nki.isa as nisa
import nki.language as nl

KEEP, V_FACTOR, M_FACTOR, STEP = 0.99999, 999.0, 9.0, 0.001


@nki.jit
def adamw_columns(theta, g, m, v, width=1024):
    """theta, g, m, v: anything of 128 x n elements, seen as [128, n]; `width` columns a turn."""
    n = 1
    for size in theta.shape:
        n *= size
    n //= 128
    theta, g, m, v = (t.reshape((128, n)) for t in (theta, g, m, v))
    out = nl.ndarray((128, n), dtype=theta.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(n // width):
        columns = slice(i * width, (i + 1) * width)
        theta_tile = nl.ndarray((128, width), dtype=theta.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=theta_tile, src=theta[:, columns])
        g_tile = nl.ndarray((128, width), dtype=g.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=g_tile, src=g[:, columns])
        m_tile = nl.ndarray((128, width), dtype=m.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=m_tile, src=m[:, columns])
        v_tile = nl.ndarray((128, width), dtype=v.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=v_tile, src=v[:, columns])
        result = _step(theta_tile, g_tile, m_tile, v_tile)
        nisa.dma_copy(dst=out[:, columns], src=result)
    return out


@nki.jit
def adamw_rows(theta, g, m, v):
    """theta, g, m, v: [rows, n]; 128 rows a turn, the last of what remains."""
    rows, n = theta.shape
    out = nl.ndarray((rows, n), dtype=theta.dtype, buffer=nl.shared_hbm)
    for start in range(0, rows, 128):
        here = slice(start, min(start + 128, rows))
        shape = (here.stop - here.start, n)
        theta_tile = nl.ndarray(shape, dtype=theta.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=theta_tile, src=theta[here])
        g_tile = nl.ndarray(shape, dtype=g.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=g_tile, src=g[here])
        m_tile = nl.ndarray(shape, dtype=m.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=m_tile, src=m[here])
        v_tile = nl.ndarray(shape, dtype=v.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=v_tile, src=v[here])
        result = _step(theta_tile, g_tile, m_tile, v_tile)
        nisa.dma_copy(dst=out[here], src=result)
    return out


def _step(theta, g, m, v):
    """Tiles in, a new tile out."""
    squares = nl.ndarray(g.shape, dtype=g.dtype, buffer=nl.sbuf)
    nisa.activation(dst=squares, op=nl.square, data=g)
    v_hat = nl.ndarray(g.shape, dtype=g.dtype, buffer=nl.sbuf)
    nisa.scalar_tensor_tensor(dst=v_hat, data=v, op0=nl.multiply, operand0=V_FACTOR, op1=nl.add, operand1=squares)
    inverse_root = nl.ndarray(g.shape, dtype=g.dtype, buffer=nl.sbuf)
    nisa.activation(dst=inverse_root, op=nl.rsqrt, data=v_hat)
    momentum = nl.ndarray(g.shape, dtype=g.dtype, buffer=nl.sbuf)
    nisa.scalar_tensor_tensor(dst=momentum, data=m, op0=nl.multiply, operand0=M_FACTOR, op1=nl.add, operand1=g)
    change = nl.ndarray(g.shape, dtype=g.dtype, buffer=nl.sbuf)
    nisa.scalar_tensor_tensor(dst=change, data=momentum, op0=nl.multiply, operand0=STEP, op1=nl.multiply,
                              operand1=inverse_root)
    result = nl.ndarray(g.shape, dtype=g.dtype, buffer=nl.sbuf)
    nisa.scalar_tensor_tensor(dst=result, data=theta, op0=nl.multiply, operand0=KEEP, op1=nl.subtract,
                              operand1=change)
    return result


@nki.jit
def adamw_by_parts(theta, g, m, v, width=1024, part=512):
    """theta, g, m, v: [rows, n]. One operation an instruction, `part` elements each: the NKIBench baseline."""
    rows, n = theta.shape
    out = nl.ndarray((rows, n), dtype=theta.dtype, buffer=nl.shared_hbm)
    zero = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=zero, value=0.0)
    for start in range(0, rows, 128):
        here = slice(start, min(start + 128, rows))
        count = here.stop - here.start
        for j in nl.affine_range(n // width):
            columns = slice(j * width, (j + 1) * width)
            theta_tile = nl.ndarray((count, width), dtype=theta.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=theta_tile, src=theta[here, columns])
            m_tile = nl.ndarray((count, width), dtype=m.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=m_tile, src=m[here, columns])
            v_tile = nl.ndarray((count, width), dtype=v.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=v_tile, src=v[here, columns])
            g_tile = nl.ndarray((count, width), dtype=g.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=g_tile, src=g[here, columns])
            result = nl.ndarray((count, width), dtype=theta.dtype, buffer=nl.sbuf)
            for k in nl.affine_range(width // part):
                piece = slice(k * part, (k + 1) * part)
                _step_by_parts(result[:, piece], theta_tile[:, piece], g_tile[:, piece], m_tile[:, piece],
                               v_tile[:, piece], zero[0:count])
            nisa.dma_copy(dst=out[here, columns], src=result)
    return out


def _step_by_parts(result, theta, g, m, v, zero):
    decay = nl.ndarray(theta.shape, dtype=nl.float32, buffer=nl.sbuf)
    kept = nl.ndarray(theta.shape, dtype=nl.float32, buffer=nl.sbuf)
    m_part = nl.ndarray(theta.shape, dtype=nl.float32, buffer=nl.sbuf)
    g_part = nl.ndarray(theta.shape, dtype=nl.float32, buffer=nl.sbuf)
    m_new = nl.ndarray(theta.shape, dtype=nl.float32, buffer=nl.sbuf)
    m_step = nl.ndarray(theta.shape, dtype=nl.float32, buffer=nl.sbuf)
    v_part = nl.ndarray(theta.shape, dtype=nl.float32, buffer=nl.sbuf)
    g_scaled = nl.ndarray(theta.shape, dtype=nl.float32, buffer=nl.sbuf)
    g_square = nl.ndarray(theta.shape, dtype=nl.float32, buffer=nl.sbuf)
    v_new = nl.ndarray(theta.shape, dtype=nl.float32, buffer=nl.sbuf)
    root = nl.ndarray(theta.shape, dtype=nl.float32, buffer=nl.sbuf)
    below = nl.ndarray(theta.shape, dtype=nl.float32, buffer=nl.sbuf)
    inverse = nl.ndarray(theta.shape, dtype=nl.float32, buffer=nl.sbuf)
    change = nl.ndarray(theta.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=decay, data=theta, op0=nl.multiply, operand0=1e-5)
    nisa.tensor_tensor(dst=kept, data1=theta, data2=decay, op=nl.subtract)
    nisa.tensor_scalar(dst=m_part, data=m, op0=nl.multiply, operand0=0.9)
    nisa.tensor_scalar(dst=g_part, data=g, op0=nl.multiply, operand0=0.1)
    nisa.tensor_tensor(dst=m_new, data1=m_part, data2=g_part, op=nl.add)
    nisa.tensor_scalar(dst=m_step, data=m_new, op0=nl.multiply, operand0=0.01)
    nisa.tensor_scalar(dst=v_part, data=v, op0=nl.multiply, operand0=0.999)
    nisa.tensor_scalar(dst=g_scaled, data=g, op0=nl.multiply, operand0=0.001)
    nisa.tensor_tensor(dst=g_square, data1=g_scaled, data2=g, op=nl.multiply)
    nisa.tensor_tensor(dst=v_new, data1=v_part, data2=g_square, op=nl.add)
    nisa.activation(dst=root, op=nl.sqrt, data=v_new, bias=zero, scale=1000.0)
    nisa.tensor_scalar(dst=below, data=root, op0=nl.add, operand0=1e-8)
    nisa.reciprocal(dst=inverse, data=below)
    nisa.tensor_tensor(dst=change, data1=m_step, data2=inverse, op=nl.multiply)
    nisa.tensor_tensor(dst=result, data1=kept, data2=change, op=nl.subtract)
