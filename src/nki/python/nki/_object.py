"""NKIObject, the base of classes that kernels take as arguments."""


class NKIObject:
    """Keyword arguments of the constructor become attributes; subclasses may be dataclasses."""

    def __init__(self, **attributes):
        for name, value in attributes.items():
            object.__setattr__(self, name, value)
