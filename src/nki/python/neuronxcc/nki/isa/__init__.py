"""neuronxcc.nki.isa: the instructions as the older generation calls them, returning tiles.

Every function takes mask=, a comparison of index expressions that narrows the instruction to a rectangle, and most take
dtype=, the element type of the result. What each instruction does is described in docs/ISA.md.
"""
from nki.isa import (dge_mode, dma_engine, engine, get_nc_version, gpsimd_engine, nc_version, oob_mode, reduce_cmd,
                     scalar_engine, tensor_engine, unknown_engine, vector_engine)
from neuronxcc.nki.isa import constants
from neuronxcc.nki.isa.arithmetic import (activation, activation_reduce, reciprocal, scalar_tensor_tensor, tensor_scalar,
                                          tensor_scalar_cumulative, tensor_scalar_reduce, tensor_tensor, tensor_tensor_scan)
from neuronxcc.nki.isa.generation import dropout, iota, memset
from neuronxcc.nki.isa.movement import (dma_copy, dma_transpose, local_gather, nc_n_gather, nc_stream_shuffle, tensor_copy,
                                        tensor_copy_dynamic_dst, tensor_copy_dynamic_src, tensor_copy_predicated)
from neuronxcc.nki.isa.reduction import bn_aggr, bn_stats, tensor_partition_reduce, tensor_reduce
from neuronxcc.nki.isa.selection import (affine_select, max8, nc_find_index8, nc_match_replace8, range_select,
                                         select_reduce, sequence_bounds)
from neuronxcc.nki.isa.tensor_engine import nc_matmul, nc_transpose
