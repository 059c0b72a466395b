"""NKIObject, the base of classes that kernels define and take as arguments."""
import typing


class NKIObject:
    """A record: annotated names and plain class attributes are its fields, as the compiler for the chip sees them.
    Keywords that are no fields become attributes; @dataclass writes its own __init__."""

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        # @dataclass, which is applied next, knows fields by their annotations only.
        annotations = cls.__dict__.get("__annotations__", {})
        cls.__annotations__ = {**annotations, **{name: typing.Any for name, value in cls.__dict__.items()
                                                 if name not in annotations and _is_field(name, value)}}

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


def _is_field(name, value):
    """Whether a class attribute is data: no method, property or nested class, nothing that instances would share."""
    return not (name.startswith("_") or callable(value) or hasattr(value, "__get__") or isinstance(value, (list, dict, set)))
