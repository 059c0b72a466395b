"""Kernels that only issue: what Python and the binding cost an instruction (bench/nki_issue_bench.cc)."""
import nki
import nki.isa as nisa
import nki.language as nl


def tiles(*shapes):
    return [nl.ndarray(shape, dtype=nl.bfloat16, buffer=nl.sbuf) for shape in shapes]


@nki.jit
def matmuls(count):
    """Three slicings and a product; a new PSUM tile every eighth."""
    stationary, moving = tiles((128, 8 * 128), (128, 8 * 512))
    for tile in range(count // 8):
        psum = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
        for k in range(8):
            nisa.nc_matmul(dst=psum[0:128, 0:512], stationary=stationary[0:128, k * 128:(k + 1) * 128],
                           moving=moving[0:128, k * 512:(k + 1) * 512])


@nki.jit
def elementwise(count):
    """Whole tiles, no slicing."""
    a, b, c = tiles((128, 512), (128, 512), (128, 512))
    for _ in range(count):
        nisa.tensor_tensor(dst=c, data1=a, data2=b, op=nl.add)


@nki.jit
def activations(count):
    """Two slicings, a bias and a scale."""
    a, b = tiles((128, 4096), (128, 4096))
    bias = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    for i in range(count):
        part = slice(i % 8 * 512, i % 8 * 512 + 512)
        nisa.activation(dst=b[:, part], op=nl.exp, data=a[:, part], bias=bias, scale=0.5)


@nki.jit
def copies(count, source):
    """A new tile, loaded: what a kernel's loop over HBM does."""
    for i in range(count):
        tile = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=source[0:128, i % 8 * 512:i % 8 * 512 + 512])
