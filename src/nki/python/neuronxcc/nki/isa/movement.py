"""Instructions that move data: copies, DMA, gathers, shuffles."""
from nki import isa
from neuronxcc.nki._assign import as_shape_of
from neuronxcc.nki._call import box_of, flush, give, operand, statement, tensor, within
from neuronxcc.nki._errors import error
from neuronxcc.nki._tensor import Tensor

unknown = isa.engine.unknown


def tensor_copy(src, *, mask=None, dtype=None, engine=unknown):
    """A copy of a tile on the chip."""
    box = box_of(mask, tensor("tensor_copy", "src", src).shape)
    x = None if box is False else src.read(box)
    return give(src.shape, src.dtype, lambda dst: isa.tensor_copy(dst, x, engine=engine), box, explicit=dtype)


def tensor_copy_dynamic_src(src, *, mask=None, dtype=None, engine=unknown):
    """tensor_copy from a place that a tile of indices names."""
    return tensor_copy(src, mask=mask, dtype=dtype, engine=engine)


def tensor_copy_dynamic_dst(*, dst, src, mask=None, dtype=None, engine=unknown):
    """tensor_copy to a place that a tile of indices names."""
    del dtype
    box = box_of(mask, src.shape)
    statement(lambda: isa.tensor_copy(dst.target(box), src.read(box), engine=engine), box)


def tensor_copy_predicated(*, src, dst, predicate, mask=None, dtype=None, reverse_pred=False):
    """src into dst where predicate is not 0."""
    del dtype
    box = box_of(mask, tensor("tensor_copy_predicated", "dst", dst).shape)

    def spread(value):
        if not isinstance(value, Tensor) or value.shape == dst.shape or value.size == dst.size:
            return value
        if value.shape[0] == 1 and value.size * dst.shape[0] == dst.size:
            value = value.reshape((1,) + tuple(dst.shape[1:]))
        return value.broadcast_to(dst.shape) if len(value.shape) == len(dst.shape) else value

    def issue():
        isa.tensor_copy_predicated(dst.read(box), operand("tensor_copy_predicated", "src", spread(src), box),
                                   operand("tensor_copy_predicated", "predicate", spread(predicate), box),
                                   reverse_pred=reverse_pred)
    statement(issue, box)


def dma_copy(*, dst, src, mask=None, dst_rmw_op=None, oob_mode=isa.oob_mode.error, dge_mode=isa.dge_mode.unknown,
             **_):
    """Moves data by DMA between HBM and SBUF, or within either; with dst_rmw_op, adds to what is there."""
    tensor("dma_copy", "dst", dst)
    tensor("dma_copy", "src", src)
    box = box_of(mask, dst.shape)
    if box is False:
        flush()
        return

    def issue():
        source = src.read(within(box, src.shape))
        target = dst.target(box)
        if dst_rmw_op is None:
            source, target = as_shape_of(source, target)
            isa.dma_copy(target, source, oob_mode=oob_mode, dge_mode=dge_mode)
        else:
            isa.dma_compute(target, (source, target), dst_rmw_op)
    statement(issue)


def dma_transpose(src, *, axes=None, mask=None, dtype=None, **more):
    """A transposed copy in SBUF by DMA."""
    tensor("dma_transpose", "src", src)
    if mask is not None:
        raise error("unsupported", "dma_transpose with a mask; index the part to be transposed")
    order = axes or tuple(reversed(range(len(src.shape))))
    shape = tuple(src.shape[axis] for axis in order)
    x = src.read()
    kept = {name: more[name] for name in ("dge_mode", "oob_mode") if name in more}
    if src.itemsize != 2 and len(shape) == 2:
        from neuronxcc.nki.language import load_transpose2d
        return load_transpose2d(src, dtype=dtype)
    return give(shape, src.dtype, lambda dst: isa.dma_transpose(dst, x, axes=order, **kept), explicit=dtype)


def nc_stream_shuffle(src, dst, shuffle_mask, *, dtype=None, mask=None):
    """Partitions in another order within each group of 32, into dst."""
    del dtype
    box = box_of(mask, tensor("nc_stream_shuffle", "dst", dst).shape)
    statement(lambda: isa.nc_stream_shuffle(dst.target(box), src.read(within(box, src.shape)), list(shuffle_mask)), box)


def local_gather(src_buffer, index, num_elem_per_idx=1, num_valid_indices=None, *, mask=None):
    """src_buffer's elements chosen by the indices of each group of 16 partitions."""
    tensor("local_gather", "src_buffer", src_buffer)
    box = box_of(mask, src_buffer.shape)
    count = num_valid_indices or index.size // index.shape[0] * 16
    shape = (src_buffer.shape[0], -(-count // 16), 16) + ((num_elem_per_idx,) if num_elem_per_idx > 1 else ())
    shape = (src_buffer.shape[0], index.size // index.shape[0], 16, num_elem_per_idx) if count % 16 == 0 else shape
    x, places = src_buffer.read(), index.read()
    return give(shape, src_buffer.dtype, lambda dst: isa.local_gather(
        dst, x, places, num_elem_per_idx=num_elem_per_idx, num_valid_indices=num_valid_indices), box)


def nc_n_gather(data, indices, *, mask=None, dtype=None):
    """data[p, indices[p, …]] in each partition p."""
    box = box_of(mask, tensor("nc_n_gather", "indices", indices).shape)
    x, places = data.read(), indices.read()
    return give(indices.shape, data.dtype, lambda dst: isa.nc_n_gather(dst, x, places), box, explicit=dtype)
