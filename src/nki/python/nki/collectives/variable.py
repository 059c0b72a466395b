"""Collectives whose sizes are known only when they run: they take more ranks than a launch has."""
from nki._errors import error


def all_gather_v(srcs, dsts, replica_group, metadata_tensor, recv_counts_known=False,
                 has_rdispls=False, priority=None, name=None):
    """Not simulated: it exists for lists of four logical cores of a chip."""
    raise error("unsupported", "all_gather_v: works on lists of four logical cores of a chip, and this "
                "simulator runs the cores of one; use all_gather to try a kernel")


def all_to_all_v(srcs, dsts, replica_group, metadata_tensor, recv_counts_known=False,
                 has_rdispls=False, priority=None, name=None):
    """Not simulated: it exists between devices or nodes."""
    raise error("unsupported", "all_to_all_v: works between devices, and this simulator runs the cores "
                "of one logical core; use all_to_all to try a kernel")
