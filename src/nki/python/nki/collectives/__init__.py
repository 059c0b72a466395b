"""nki.collectives between the cores that one launch starts: kernel[2] has ranks 0 and 1.

On the chip a rank is a logical core of a large machine. Here it is one of the launched cores, so
that a kernel's use of collectives can be tried: data goes through shared HBM, with a barrier on
either side. Groups that name other ranks are refused as unsupported.
"""
from nki.collectives.exchange import (all_gather, all_reduce, all_to_all, collective_permute,
                                      reduce_scatter)
from nki.collectives.group import ReplicaGroup, rank_id
from nki.collectives.ring import (collective_permute_implicit,
                                  collective_permute_implicit_current_processing_rank_id,
                                  collective_permute_implicit_reduce)
from nki.collectives.variable import all_gather_v, all_to_all_v
