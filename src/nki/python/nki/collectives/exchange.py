"""Collectives over a group: everybody puts its tensors into shared HBM, waits, and takes what is
its own."""
from nki import _core, isa
from nki._errors import describe, error
from nki.collectives.group import (check_dim, check_lists, check_priority, check_ranks, check_shape,
                                   members, only_hbm)
from nki.language.arithmetic import add, maximum, minimum
from nki.language.memory import is_hbm, shared_hbm
from nki.language._tiles import new_tile

_ROW_ELEMENTS = 2048  # a partition, of the tiles in which reductions are made


def barrier(data):
    """Waits for the other core."""
    if _core.cores() > 1:
        isa.core_barrier(data=data, cores=tuple(range(_core.cores())))


def publish(tensor, name):
    """A tensor in shared HBM with the tensor of every launched rank: [rank, ...]. `name` is that of
    the instruction that brings this rank's."""
    board = _core.ndarray((_core.cores(),) + tuple(tensor.shape), tensor.dtype, shared_hbm)
    isa.dma_copy(dst=board[_core.rank()], src=tensor, name=name)
    barrier(board)
    return board


def _rows(tensor):
    """As [rows, columns] with rows that fit partitions."""
    flat = tensor.reshape((1, tensor.size))
    rows = next(r for r in range(128, 0, -1) if tensor.size % r == 0)
    return flat.reshape((rows, tensor.size // rows))


def _reduce_pieces(op, sources, dst):
    """dst = op over sources, all [rows, columns] in HBM, by the Vector engine."""
    for start in range(0, dst.shape[1], _ROW_ELEMENTS):
        pieces = []
        for source in sources:
            part = source[:, start:start + _ROW_ELEMENTS]
            pieces.append(new_tile(part.shape, source.dtype))
            isa.dma_copy(dst=pieces[-1], src=part)
        total = pieces[0]
        if len(pieces) > 1:
            total = new_tile(pieces[0].shape, "float32" if not dst.dtype.is_integer else dst.dtype)
            isa.tensor_tensor(dst=total, data1=pieces[0], data2=pieces[1], op=op)
        for piece in pieces[2:]:
            isa.tensor_tensor(dst=total, data1=total, data2=piece, op=op)
        isa.dma_copy(dst=dst[:, start:start + _ROW_ELEMENTS], src=total)


def reduce_into(op, sources, dst):
    """dst = op over sources, tensors in HBM; dst in HBM or SBUF."""
    if is_hbm(dst.buffer):
        _reduce_pieces(op, [_rows(source) for source in sources], _rows(dst))
        return
    staged = _core.ndarray(tuple(dst.shape), dst.dtype, shared_hbm)
    _reduce_pieces(op, [_rows(source) for source in sources], _rows(staged))
    isa.dma_copy(dst=dst, src=staged)


def check_op(name, op):
    if op not in (add, maximum, minimum):
        raise error("argument", f"{name}: op is {describe(op)}; expected nl.add, nl.maximum or "
                    "nl.minimum")


def all_reduce(srcs, dsts, replica_group, op, priority=None, name=None):
    """Each dst: `op` over the group's srcs."""
    check_priority(priority)
    check_op("all_reduce", op)
    group = members("all_reduce", replica_group)
    check_lists("all_reduce", srcs=srcs, dsts=dsts)
    for src, dst in zip(srcs, dsts):
        check_shape("all_reduce", "dst", dst, src.shape)
        board = publish(src, name)
        reduce_into(op, [board[rank] for rank in group], dst)
        barrier(board)


def _piece(tensor, dim, index, size):
    return tensor.slice(dim, index * size, (index + 1) * size)


def all_gather(srcs, dsts, replica_group, collective_dim, priority=None, name=None):
    """Each dst: the group's srcs one after the other along collective_dim."""
    check_priority(priority)
    group = members("all_gather", replica_group)
    in_sbuf = check_lists("all_gather", srcs=srcs, dsts=dsts)
    check_dim("all_gather", collective_dim, (0, 1) if in_sbuf else (0,))
    for src, dst in zip(srcs, dsts):
        size = src.shape[collective_dim]
        shape = list(src.shape)
        shape[collective_dim] = size * len(group)
        check_shape("all_gather", "dst", dst, shape)
        board = publish(src, name)
        for index, rank in enumerate(group):
            isa.dma_copy(dst=_piece(dst, collective_dim, index, size), src=board[rank])
        barrier(board)


def _check_split(name, tensor, parts):
    if tensor.shape[0] % parts:
        raise error("shape", f"{name}: src has {tensor.shape[0]} rows, which {parts} ranks cannot "
                    "share evenly")
    return tensor.shape[0] // parts


def reduce_scatter(srcs, dsts, replica_group, collective_dim, op, priority=None, name=None):
    """Each dst: this rank's share of `op` over the group's srcs, split along dimension 0."""
    check_priority(priority)
    check_op("reduce_scatter", op)
    group = members("reduce_scatter", replica_group)
    check_lists("reduce_scatter", srcs=srcs, dsts=dsts)
    check_dim("reduce_scatter", collective_dim, (0,))
    for src, dst in zip(srcs, dsts):
        size = _check_split("reduce_scatter", src, len(group))
        check_shape("reduce_scatter", "dst", dst, (size,) + tuple(src.shape[1:]))
        mine = group.index(_core.rank())
        board = publish(src, name)
        reduce_into(op, [_piece(board[rank], 0, mine, size) for rank in group], dst)
        barrier(board)


def all_to_all(srcs, dsts, replica_group, collective_dim, priority=None, name=None):
    """Part i of each src goes to the group's rank i, which puts this rank's where this rank stands
    in the group."""
    check_priority(priority)
    group = members("all_to_all", replica_group)
    only_hbm("all_to_all", check_lists("all_to_all", srcs=srcs, dsts=dsts))
    check_dim("all_to_all", collective_dim, (0,))
    for src, dst in zip(srcs, dsts):
        size = _check_split("all_to_all", src, len(group))
        check_shape("all_to_all", "dst", dst, src.shape)
        mine = group.index(_core.rank())
        board = publish(src, name)
        for index, rank in enumerate(group):
            isa.dma_copy(dst=_piece(dst, 0, index, size), src=_piece(board[rank], 0, mine, size))
        barrier(board)


def collective_permute(srcs, dsts, source_target_pairs, priority=None, name=None):
    """Sends src of each pair's source to dst of its target."""
    check_priority(priority)
    pairs = [tuple(pair) for pair in source_target_pairs]
    check_ranks("collective_permute", [rank for pair in pairs for rank in pair])
    only_hbm("collective_permute", check_lists("collective_permute", srcs=srcs, dsts=dsts))
    if len(srcs) != 1:
        raise error("unsupported", f"collective_permute: {len(srcs)} tensors; expected one")
    sources, targets = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    if len(set(sources)) != len(sources) or len(set(targets)) != len(targets):
        raise error("argument", f"collective_permute: {pairs}; expected each rank once as source and "
                    "once as target at most")
    check_shape("collective_permute", "dst", dsts[0], srcs[0].shape)
    board = publish(srcs[0], name)
    for source, target in pairs:
        if target == _core.rank():
            isa.dma_copy(dst=dsts[0], src=board[source])
    barrier(board)
