"""Looking into a kernel while it runs."""
from nki import _core
from nki._errors import describe, error
from nki.language._tiles import is_tile


def _values(tensor):
    from nki import _arrays
    values = _arrays.to_numpy(_core.fetch(tensor)[0])
    return "(no values in this run)" if values is None else values


def device_print(print_prefix, tensor):
    """Prints `print_prefix` and the values of a tensor to standard output."""
    if not isinstance(print_prefix, str):
        raise error("argument", f"device_print: the prefix is {describe(print_prefix)}; expected "
                    "a string")
    if not is_tile(tensor):
        raise error("argument", f"device_print: given {describe(tensor)}; expected a tensor")
    print(f"{print_prefix} {tuple(tensor.shape)} {tensor.dtype}\n{_values(tensor)}")
