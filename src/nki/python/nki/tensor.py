"""nki.tensor: the annotation of tensor arguments, from before nki.typing."""
from nki.typing import tensor
