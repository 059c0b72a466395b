"""gelu(lhsT[K, M]^T @ rhs[K, N] + bias[1, N]): in one kernel with the table's gelu or a tanh formula, or in two kernels
with the sum in HBM between them. The bias reaches all partitions as a product of a column of ones with the row, which
is what the study's compiler makes of a broadcast over partitions."""
import nki
import nki.isa as nisa
import nki.language as nl

TILE_M, TILE_K, TILE_N = 128, 128, 512


def _at(index, size):
    return slice(index * size, (index + 1) * size)


def _ones():
    ones = nl.ndarray((1, TILE_M), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=ones, value=1.0)
    return ones


def _product(lhsT, rhs, bias, ones, m, n):
    """A tile of lhsT^T @ rhs + bias in SBUF."""
    total = nl.ndarray((TILE_M, TILE_N), dtype=nl.float32, buffer=nl.psum)
    for k in nl.affine_range(lhsT.shape[0] // TILE_K):
        stationary = nl.ndarray((TILE_K, TILE_M), dtype=lhsT.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=stationary, src=lhsT[_at(k, TILE_K), _at(m, TILE_M)])
        moving = nl.ndarray((TILE_K, TILE_N), dtype=rhs.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=moving, src=rhs[_at(k, TILE_K), _at(n, TILE_N)])
        nisa.nc_matmul(dst=total, stationary=stationary, moving=moving)
    copied = nl.ndarray((TILE_M, TILE_N), dtype=lhsT.dtype, buffer=nl.sbuf)
    nisa.tensor_copy(dst=copied, src=total)
    row = nl.ndarray((1, TILE_N), dtype=bias.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=row, src=bias[0:1, _at(n, TILE_N)])
    spread = nl.ndarray((TILE_M, TILE_N), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=spread, stationary=ones, moving=row)
    with_bias = nl.ndarray((TILE_M, TILE_N), dtype=lhsT.dtype, buffer=nl.sbuf)
    nisa.tensor_tensor(dst=with_bias, data1=copied, data2=spread, op=nl.add)
    return with_bias


def _tanh_gelu(x):
    """0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) with tanh(z) = 2 sigmoid(2 z) - 1, an operation at a time."""
    square = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_tensor(dst=square, data1=x, data2=x, op=nl.multiply)
    cube = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_tensor(dst=cube, data1=square, data2=x, op=nl.multiply)
    part = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=part, data=cube, op0=nl.multiply, operand0=0.044715)
    total = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_tensor(dst=total, data1=x, data2=part, op=nl.add)
    inner = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=inner, data=total, op0=nl.multiply, operand0=0.7978845608028654)
    sigmoid = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.activation(dst=sigmoid, op=nl.sigmoid, data=inner, scale=2.0)
    doubled = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=doubled, data=sigmoid, op0=nl.multiply, operand0=2.0)
    tanh = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=tanh, data=doubled, op0=nl.subtract, operand0=1.0)
    half = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=half, data=x, op0=nl.multiply, operand0=0.5)
    one_more = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_scalar(dst=one_more, data=tanh, op0=nl.add, operand0=1.0)
    result = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.tensor_tensor(dst=result, data1=half, data2=one_more, op=nl.multiply)
    return result


@nki.jit
def gemm_gelu(lhsT, rhs, bias, formula=False):
    """In one kernel. formula: tanh in place of the activation table."""
    M, N = lhsT.shape[1], rhs.shape[1]
    out = nl.ndarray((M, N), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    ones = _ones()
    for m in nl.affine_range(M // TILE_M):
        for n in nl.affine_range(N // TILE_N):
            x = _product(lhsT, rhs, bias, ones, m, n)
            if formula:
                result = _tanh_gelu(x)
            else:
                result = nl.ndarray((TILE_M, TILE_N), dtype=lhsT.dtype, buffer=nl.sbuf)
                nisa.activation(dst=result, op=nl.gelu, data=x)
            nisa.dma_copy(dst=out[_at(m, TILE_M), _at(n, TILE_N)], src=result)
    return out


@nki.jit
def gemm(lhsT, rhs, bias):
    """The first of two kernels: the sum."""
    M, N = lhsT.shape[1], rhs.shape[1]
    out = nl.ndarray((M, N), dtype=lhsT.dtype, buffer=nl.shared_hbm)
    ones = _ones()
    for m in nl.affine_range(M // TILE_M):
        for n in nl.affine_range(N // TILE_N):
            result = _product(lhsT, rhs, bias, ones, m, n)
            nisa.dma_copy(dst=out[_at(m, TILE_M), _at(n, TILE_N)], src=result)
    return out


@nki.jit
def gelu(y):
    """The second: gelu of every tile."""
    M, N = y.shape
    out = nl.ndarray((M, N), dtype=y.dtype, buffer=nl.shared_hbm)
    for m in nl.affine_range(M // TILE_M):
        for n in nl.affine_range(N // TILE_N):
            tile = nl.ndarray((TILE_M, TILE_N), dtype=y.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=tile, src=y[_at(m, TILE_M), _at(n, TILE_N)])
            result = nl.ndarray((TILE_M, TILE_N), dtype=y.dtype, buffer=nl.sbuf)
            nisa.activation(dst=result, op=nl.gelu, data=tile)
            nisa.dma_copy(dst=out[_at(m, TILE_M), _at(n, TILE_N)], src=result)
    return out
