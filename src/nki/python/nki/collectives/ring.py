"""Permutes along the ring of a group: every rank sends to the next one and hears from the one
before."""
from nki import _core, isa
from nki._errors import error
from nki.collectives.exchange import barrier, check_op, publish, reduce_into
from nki.collectives.group import check_lists, check_priority, check_shape, members, only_hbm
from nki.language.memory import shared_hbm

_MAX_CHANNELS = 4


def _check_channels(name, channel_ids, **by_channel):
    ids = list(channel_ids)
    if ids != list(range(len(ids))) or not 1 <= len(ids) <= _MAX_CHANNELS:
        raise error("argument", f"{name}: channel_ids {ids}; expected 0, 1, … up to {_MAX_CHANNELS} of "
                    "them")
    for argument, channels in by_channel.items():
        if len(channels) != len(ids) or any(len(tensors) != 1 for tensors in channels):
            raise error("argument", f"{name}: {argument} has {[len(c) for c in channels]} tensors by "
                        f"channel; expected one in each of {len(ids)} channels")


def _before(group):
    return group[group.index(_core.rank()) - 1]


def collective_permute_implicit(srcs_by_channel, dsts_by_channel, replica_group, channel_ids=(0,),
                                priority=None, name=None):
    """dst: src of the rank before this one in the ring."""
    check_priority(priority)
    operation = "collective_permute_implicit"
    group = members(operation, replica_group)
    _check_channels(operation, channel_ids, srcs_by_channel=srcs_by_channel,
                    dsts_by_channel=dsts_by_channel)
    for srcs, dsts in zip(srcs_by_channel, dsts_by_channel):
        only_hbm(operation, check_lists(operation, srcs=srcs, dsts=dsts))
        check_shape(operation, "dst", dsts[0], srcs[0].shape)
        board = publish(srcs[0], name)
        isa.dma_copy(dst=dsts[0], src=board[_before(group)])
        barrier(board)


def collective_permute_implicit_reduce(srcs0_by_channel, srcs1_by_channel, dsts_by_channel,
                                       replica_group, op, channel_ids=(0,), priority=None, name=None):
    """dst: op(src0, src1) of the rank before this one in the ring."""
    check_priority(priority)
    operation = "collective_permute_implicit_reduce"
    check_op(operation, op)
    group = members(operation, replica_group)
    _check_channels(operation, channel_ids, srcs0_by_channel=srcs0_by_channel,
                    srcs1_by_channel=srcs1_by_channel, dsts_by_channel=dsts_by_channel)
    for srcs0, srcs1, dsts in zip(srcs0_by_channel, srcs1_by_channel, dsts_by_channel):
        only_hbm(operation, check_lists(operation, srcs0=srcs0, srcs1=srcs1, dsts=dsts))
        check_shape(operation, "src1", srcs1[0], srcs0[0].shape)
        check_shape(operation, "dst", dsts[0], srcs0[0].shape)
        board = _core.ndarray((_core.cores(),) + tuple(dsts[0].shape), dsts[0].dtype, shared_hbm)
        reduce_into(op, [srcs0[0], srcs1[0]], board[_core.rank()])
        barrier(board)
        isa.dma_copy(dst=dsts[0], src=board[_before(group)], name=name)
        barrier(board)


def collective_permute_implicit_current_processing_rank_id(iteration_id, replica_group, channel_id=0,
                                                           name=None):
    """A register with the rank whose data is here after `iteration_id` steps of the ring."""
    del channel_id, name
    operation = "collective_permute_implicit_current_processing_rank_id"
    group = members(operation, replica_group)
    if not isinstance(iteration_id, int):
        raise error("argument", f"{operation}: iteration_id is {iteration_id!r}; expected a Python "
                    "integer")
    return isa.register_alloc(group[(group.index(_core.rank()) - iteration_id) % len(group)])
