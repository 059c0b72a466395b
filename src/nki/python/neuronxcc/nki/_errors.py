"""Refusals of the older generation: its error ids in messages, in the classes of docs/ERRORS.md."""
from nki._errors import describe, error

# What each id of the older generation's catalogue is among the simulator's error classes.
CLASS_OF = {
    "err_1d_arange_not_supported": "unsupported",
    "err_activation_bias_invalid_type": "argument",
    "err_activation_scale_invalid_type": "argument",
    "err_activation_scale_scalar_or_vector": "shape",
    "err_ambiguous_tensor_truth_value": "argument",
    "err_annotation_shape_mismatch": "shape",
    "err_bias_tensor_must_be_specified_in_allocation": "argument",
    "err_cannot_assign_to_index": "argument",
    "err_cannot_update_immutable_parameter": "memory",
    "err_control_flow_condition_depending_on_arange": "argument",
    "err_copy_dynamic_indirect_indices_not_natively_supported": "unsupported",
    "err_dynamic_control_flow_not_supported": "unsupported",
    "err_exceed_max_supported_dimension": "free-size",
    "err_failed_to_infer_tile_from_local_tensor": "shape",
    "err_hbm_tensor_with_init_value_not_supported": "memory",
    "err_indirect_indices_are_not_supported_with_nki_api": "unsupported",
    "err_indirect_indices_free_dim": "unsupported",
    "err_leading_dimension_of_tensor_must_be_partition": "partitions",
    "err_local_variable_used_out_of_scope": "argument",
    "err_mutable_parameter_not_returned": "argument",
    "err_nested_kernel_with_spmd_grid": "argument",
    "err_nki_api_outside_of_nki_kernel": "outside-kernel",
    "err_num_partition_exceed_arch_limit": "partitions",
    "err_num_partition_mismatch": "partitions",
    "err_shared_hbm_must_in_kernel_level": "memory",
    "err_size_of_dimension_exceed_arch_limit": "free-size",
    "err_store_dst_shape_smaller_than_other_shape": "shape",
    "err_tensor_access_out_of_bound": "out-of-bounds",
    "err_tensor_creation_on_scratchpad_with_init_value_not_supported": "memory",
    "err_tensor_output_not_written_to": "uninitialized",
    "err_transpose_on_tensor_engine_not_allowed_in_allocated_kernel": "engine",
    "err_unexpected_output_dependencies": "race",
    "err_unsupported_expression_in_mask": "unsupported",
    "err_unsupported_memory": "memory",
    "err_unsupported_mixing_basic_advanced_tensor_indexing": "unsupported",
    "err_while_loop_requires_unconditional_entry": "unsupported",
}


def refusal(error_id, text):
    """The exception for an id of the catalogue, to be raised."""
    return error(CLASS_OF[error_id], f"{error_id}: {text}")
