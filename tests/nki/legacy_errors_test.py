"""Misuses of neuronxcc.nki: each is refused with the id that the older generation's documents give it."""
import unittest

import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np
from neuronxcc.nki._errors import CLASS_OF

A = np.ones((128, 64), np.float32)


class Refusals(unittest.TestCase):
    def refuses(self, error_id, body, *arrays):
        """body(*tensors) as a kernel raises an error that carries the id, of the id's class."""
        with self.assertRaises(nki.NkiError) as raised:
            nki.jit(body)(*(arrays or (A,)))
        self.assertIn(error_id, str(raised.exception))
        self.assertEqual(raised.exception.error_class, CLASS_OF[error_id])

    def test_an_arange_of_one_dimension(self):
        self.refuses("err_1d_arange_not_supported", lambda a: nl.load(a)[nl.arange(64), 0])

    def test_types_of_bias_and_scale(self):
        def bias(a):
            nisa.activation(nl.exp, nl.load(a), bias="none")

        def scale(a):
            nisa.activation(nl.exp, nl.load(a), scale=nl.load(a[:, 0:1], dtype=nl.bfloat16))

        def shape(a):
            nisa.activation(nl.exp, nl.load(a), scale=nl.load(a))
        self.refuses("err_activation_bias_invalid_type", bias)
        self.refuses("err_activation_scale_invalid_type", scale)
        self.refuses("err_activation_scale_scalar_or_vector", shape)

    def test_a_tile_as_a_condition(self):
        def body(a):
            if nl.load(a) > 0:
                pass
        self.refuses("err_ambiguous_tensor_truth_value", body)

    def test_an_index_as_a_condition_and_as_an_integer(self):
        def condition(a):
            if nl.arange(64)[None, :] < 32:
                pass

        def count(a):
            range(nl.arange(64))
        self.refuses("err_ambiguous_tensor_truth_value", condition)
        self.refuses("err_control_flow_condition_depending_on_arange", count)

    def test_assignment_to_an_index(self):
        def body(a):
            nl.arange(64)[None, :][0, 0] = 3
        self.refuses("err_cannot_assign_to_index", body)

    def test_loops_over_tiles(self):
        self.refuses("err_dynamic_control_flow_not_supported", lambda a: nl.affine_range(nl.load(a)))

    def test_more_partitions_than_there_are(self):
        self.refuses("err_num_partition_exceed_arch_limit", lambda a: nl.ndarray((256, 4), dtype=nl.float32))
        self.refuses("err_num_partition_exceed_arch_limit", lambda a: nl.load(a), np.ones((256, 4), np.float32))

    def test_partitions_of_two_operands(self):
        self.refuses("err_num_partition_mismatch", lambda a: nisa.nc_matmul(nl.load(a), nl.load(a[0:64, :])))
        self.refuses("err_num_partition_mismatch",
                     lambda a: nisa.tensor_tensor(nl.load(a), nl.load(a[0:64, :]), nl.add))

    def test_an_access_outside(self):
        def body(a):
            nl.load(a[nl.arange(128)[:, None], 1 + nl.arange(64)[None, :]])
        self.refuses("err_tensor_access_out_of_bound", body)

    def test_slices_beside_index_expressions(self):
        self.refuses("err_unsupported_mixing_basic_advanced_tensor_indexing",
                     lambda a: nl.load(a[0:64, nl.arange(64)[None, :]]))

    def test_masks_that_leave_no_rectangle(self):
        def triangle(a):
            p, f = nl.mgrid[0:128, 0:64]
            nl.store(a[p, f], nl.load(a), mask=p < f)

        def either(a):
            p, f = nl.mgrid[0:128, 0:64]
            nl.store(a[p, f], nl.load(a), mask=(p < 4) | (f < 4))
        self.refuses("err_unsupported_expression_in_mask", triangle)
        self.refuses("err_unsupported_expression_in_mask", either)

    def test_memories(self):
        self.refuses("err_unsupported_memory", lambda a: nl.ndarray((8, 8), dtype=nl.float32, buffer="dram"))
        self.refuses("err_unsupported_memory", lambda a: nl.load(nl.load(a)))
        self.refuses("err_hbm_tensor_with_init_value_not_supported",
                     lambda a: nl.zeros((8, 8), dtype=nl.float32, buffer=nl.shared_hbm))
        self.refuses("err_tensor_creation_on_scratchpad_with_init_value_not_supported",
                     lambda a: nl.zeros((8, 8), dtype=nl.float32, buffer=ncc.sbuf.mod_alloc(base_addr=0)))

    def test_a_store_into_less(self):
        self.refuses("err_store_dst_shape_smaller_than_other_shape", lambda a: nl.store(nl.ndarray((64, 64), dtype=a.dtype, buffer=nl.shared_hbm), nl.load(a)))

    def test_indirect_indices(self):
        def twice(a):
            rows = nisa.iota(nl.arange(8)[:, None], dtype=nl.int32)
            nl.load(a[rows, rows])

        def on_chip(a):
            rows = nisa.iota(nl.arange(8)[:, None], dtype=nl.int32)
            nl.copy(nl.load(a)[rows, nl.arange(8)[None, :]])

        def not_affine(a):
            nl.load(a[nl.arange(128)[:, None] // 3, 0])
        self.refuses("err_indirect_indices_free_dim", twice)
        self.refuses("err_copy_dynamic_indirect_indices_not_natively_supported", on_chip)
        self.refuses("err_indirect_indices_are_not_supported_with_nki_api", not_affine)

    def test_calls_outside_of_kernels(self):
        with self.assertRaises(nki.NkiError) as raised:
            nl.zeros((8, 8), dtype=nl.float32)
        self.assertIn("err_nki_api_outside_of_nki_kernel", str(raised.exception))

    def test_arguments_are_read_only_unless_mutable(self):
        from neuronxcc.nki.typing import mutable_tensor

        def forgets(a: mutable_tensor):
            nl.store(a, nl.load(a))
        self.refuses("err_cannot_update_immutable_parameter", lambda a: nl.store(a, nl.load(a)))
        self.refuses("err_mutable_parameter_not_returned", forgets)

    def test_an_output_that_nothing_writes(self):
        self.refuses("err_tensor_output_not_written_to", lambda a: nl.ndarray((8, 8), dtype=a.dtype, buffer=nl.shared_hbm))

    def test_many_tiles_as_one(self):
        self.refuses("err_failed_to_infer_tile_from_local_tensor",
                     lambda a: nl.exp(nl.ndarray((2, nl.par_dim(8), 8), dtype=a.dtype)))

    def test_products_beyond_the_array(self):
        def body(a):
            tile = nl.ndarray((128, 256), dtype=a.dtype)
            nisa.nc_matmul(tile, tile)
        self.refuses("err_size_of_dimension_exceed_arch_limit", body)

    def test_what_a_kernel_that_places_its_tiles_does_not_get(self):
        def placed(a):
            tile = nl.ndarray((128, 64), dtype=a.dtype, buffer=ncc.sbuf.mod_alloc(base_addr=0))
            tile[...] = nl.load(a)
            return tile
        self.refuses("err_bias_tensor_must_be_specified_in_allocation", lambda a: nisa.activation(nl.exp, placed(a)))
        self.refuses("err_transpose_on_tensor_engine_not_allowed_in_allocated_kernel",
                     lambda a: nisa.nc_transpose(placed(a)))

    def test_a_grid_within_a_kernel(self):
        inner = nki.jit(lambda a: a)
        self.refuses("err_nested_kernel_with_spmd_grid", lambda a: inner[2](a))

    def test_a_grid_of_four_dimensions(self):
        with self.assertRaises(nki.NkiError) as raised:
            nki.jit(lambda a: a)[1, 1, 1, 1](A)
        self.assertIn("err_exceed_max_supported_dimension", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
