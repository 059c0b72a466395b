"""Groups of ranks, and the arguments that all collectives have in common."""
from nki import _core
from nki._errors import describe, error
from nki.language.memory import is_hbm, is_psum
from nki._object import NKIObject


class ReplicaGroup(NKIObject):
    """ReplicaGroup([[0, 1], [2, 3]]): lists of ranks, without overlap, that talk to each other."""

    def __init__(self, groups):
        self.groups = [list(group) for group in groups]
        ranks = [rank for group in self.groups for rank in group]
        if not ranks or not all(isinstance(rank, int) and rank >= 0 for rank in ranks):
            raise error("argument", f"ReplicaGroup: {groups!r}; expected lists of ranks, 0 and up")
        if len(set(ranks)) != len(ranks):
            raise error("argument", f"ReplicaGroup: a rank is twice in {groups!r}; groups do not "
                        "overlap")


def rank_id(name=None):
    """This core's rank."""
    del name
    return _core.rank()


def members(name, replica_group):
    """The ranks of this rank's group, in their order."""
    if not isinstance(replica_group, ReplicaGroup):
        raise error("argument", f"{name}: replica_group is {describe(replica_group)}; expected a "
                    "ReplicaGroup")
    cores = _core.cores()
    for group in replica_group.groups:
        check_ranks(name, group)
    for group in replica_group.groups:
        if _core.rank() in group:
            sizes = {len(other) for other in replica_group.groups}
            if len(sizes) > 1:
                raise error("argument", f"{name}: groups of {sorted(sizes)} ranks; expected groups of "
                            "the same size")
            return group
    raise error("argument", f"{name}: rank {_core.rank()} of {cores} is in no group of "
                f"{replica_group.groups}; every rank that calls a collective is in one")


def check_ranks(name, ranks):
    """Refuses ranks that this launch has not."""
    cores = _core.cores()
    beyond = sorted(rank for rank in ranks if rank >= cores)
    if beyond:
        raise error("unsupported", f"{name}: ranks {beyond} of other devices; this launch has {cores} "
                    f"(kernel[2](...) starts two), and a process simulates no more")


def check_lists(name, **lists):
    """Lists of tensors of equal length, all in HBM or one each in SBUF. Gives whether in SBUF."""
    lengths = {argument: len(tensors) if isinstance(tensors, (list, tuple)) else None
               for argument, tensors in lists.items()}
    if None in lengths.values() or len(set(lengths.values())) != 1 or 0 in lengths.values():
        raise error("argument", f"{name}: lists of tensors of lengths {lengths}; expected lists of one "
                    "length, at least 1")
    tensors = [(argument, tensor) for argument, given in lists.items() for tensor in given]
    for argument, tensor in tensors:
        if not isinstance(tensor, _core.NkiTensor) or is_psum(tensor.buffer):
            raise error("memory", f"{name}: {argument} holds {describe(tensor)}; expected tensors in "
                        "HBM or SBUF")
    places = {is_hbm(tensor.buffer) for _, tensor in tensors}
    if len(places) > 1:
        raise error("memory", f"{name}: tensors in HBM and in SBUF; expected all in one of them")
    in_sbuf = places == {False}
    if in_sbuf and len(tensors) != len(lists):
        raise error("unsupported", f"{name}: several tensors in SBUF; collectives of more than one "
                    "tensor work on HBM")
    return in_sbuf


def only_hbm(name, in_sbuf):
    """Some collectives have no SBUF form."""
    if in_sbuf:
        raise error("memory", f"{name}: tensors in SBUF; this collective works on HBM")


def check_priority(priority):
    """DMA priorities came with the fourth generation."""
    generation = _core.machine_constant("generation")
    if priority is not None and generation < 4:
        raise error("generation", f"priority={priority!r}: this chip is of generation {generation}; DMA "
                    "priorities came with generation 4")


def check_dim(name, collective_dim, allowed):
    if collective_dim not in allowed:
        raise error("unsupported", f"{name}: collective_dim {collective_dim!r}; expected "
                    f"{' or '.join(map(str, allowed))} for tensors here")


def check_shape(name, what, tensor, expected):
    if tuple(tensor.shape) != tuple(expected):
        raise error("shape", f"{name}: {what} has shape {tuple(tensor.shape)}; expected "
                    f"{tuple(expected)}")
