"""NKIObject, the base of classes that kernels define and take as arguments."""


class NKIObject:
    """Attributes from keywords, by the class's annotations; @dataclass writes its own __init__."""

    def __init__(self, *args, **kwargs):
        names = [name for cls in reversed(type(self).__mro__)
                 for name in cls.__dict__.get("__annotations__", ())]
        if len(args) > len(names):
            raise TypeError(f"{type(self).__name__}() takes {len(names)} arguments: "
                            f"{', '.join(names)}; {len(args)} given")
        values = dict(zip(names, args))
        for name, value in kwargs.items():
            if name in values:
                raise TypeError(f"{type(self).__name__}() got {name} twice")
            values[name] = value
        for name in names:
            if name not in values:
                values[name] = getattr(type(self), name, None)
        for name, value in values.items():
            setattr(self, name, value)
        self.__post_init__()

    def __post_init__(self):
        """For subclasses to fill in."""

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self):
        return hash((type(self), tuple(sorted((k, repr(v)) for k, v in vars(self).items()))))

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"
