"""nki.meta: where the annotation of tensor arguments lives today."""
from nki.typing import tensor
