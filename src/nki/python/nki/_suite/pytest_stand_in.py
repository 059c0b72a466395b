"""The little of pytest that parametrised tests of kernels need, for machines without it."""
import contextlib
import importlib.util
import inspect
import itertools
import re
import sys
import types
import unittest


def install_if_absent():
    """Makes `import pytest` give this stand-in where there is no other."""
    if importlib.util.find_spec("pytest"):
        return
    module = types.ModuleType("pytest")
    module.mark, module.param, module.fixture = _Mark(), _Param, fixture
    module.raises, module.skip, module.fail, module.approx = raises, skip, fail, approx
    module.importorskip = importorskip
    module.main = lambda *arguments, **keywords: 0
    module.is_stand_in = True
    sys.modules["pytest"] = module


class _Param:
    def __init__(self, *values, id=None, marks=()):
        self.values, self.id = values, id


class _Mark:
    """pytest.mark.ANYTHING: parametrize, skip and skipif do what they say, others nothing."""

    def __getattr__(self, name):
        def mark(*arguments, **keywords):
            if len(arguments) == 1 and callable(arguments[0]) and not keywords:
                return arguments[0]
            return lambda function: function
        return mark

    @staticmethod
    def parametrize(names, values, ids=None, **_):
        names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)

        def decorate(function):
            sets = [dict(zip(names, _values(value, len(names)))) for value in values]
            function.parameter_sets = [sets, *getattr(function, "parameter_sets", [])]
            return function
        return decorate

    @staticmethod
    def skip(function=None, reason=""):
        return unittest.skip(reason)(function) if callable(function) else unittest.skip(reason or str(function or ""))

    @staticmethod
    def skipif(condition, reason=""):
        return unittest.skipIf(condition, reason)


def _values(value, count):
    if isinstance(value, _Param):
        return value.values
    return (value,) if count == 1 else tuple(value)


def cases_of(function):
    """[(label, {name: value})] of a test with its parameters; one without a label when it has none."""
    stacks = getattr(function, "parameter_sets", [])
    cases = []
    for number, chosen in enumerate(itertools.product(*stacks)):
        values = {name: value for one in chosen for name, value in one.items()}
        cases.append((f"[{_label(values, number)}]" if stacks else "", values))
    return cases


def _label(values, number):
    plain = all(isinstance(value, (int, float, str, bool)) for value in values.values())
    return "-".join(str(value) for value in values.values()) if plain else str(number)


def fixture(function=None, **_):
    if function is None:
        return fixture
    function.is_fixture = True
    return function


def call(owner, function, arguments):
    """Runs a test function with its parameters and the fixtures that it names."""
    if getattr(function, "__unittest_skip__", False):
        raise unittest.SkipTest(function.__unittest_skip_why__)
    if hasattr(owner, "setup_method"):
        owner.setup_method()
    with contextlib.ExitStack() as stack:
        function(**_with_fixtures(owner, function, arguments, stack))


def _with_fixtures(owner, function, arguments, stack):
    values = dict(arguments)
    for name in inspect.signature(function).parameters:
        if name not in values:
            values[name] = _fixture(owner, function, name, stack)
    return values


def _fixture(owner, function, name, stack):
    made = getattr(owner, name, None) or getattr(sys.modules[function.__module__], name, None)
    if not getattr(made, "is_fixture", False):
        raise unittest.SkipTest(f"needs pytest for its fixture {name}")
    value = made(**_with_fixtures(owner, made, {}, stack))
    if not inspect.isgenerator(value):
        return value
    stack.callback(lambda: next(value, None))
    return next(value)


@contextlib.contextmanager
def raises(expected, match=None):
    caught = types.SimpleNamespace(value=None, type=None)
    try:
        yield caught
    except expected as error:
        caught.value, caught.type = error, type(error)
        if match and not re.search(match, str(error)):
            raise AssertionError(f"{error!r} does not match {match!r}") from error
    else:
        raise AssertionError(f"no {expected} was raised")


def skip(reason="", **_):
    raise unittest.SkipTest(reason)


def fail(reason="", **_):
    raise AssertionError(reason)


def importorskip(name, **_):
    try:
        return __import__(name)
    except ImportError:
        raise unittest.SkipTest(f"could not import {name!r}") from None


class approx:
    """A number, or numbers, up to rounding."""

    def __init__(self, expected, rel=1e-6, abs=1e-12):
        self.expected, self.rel, self.abs = expected, rel, abs

    def __eq__(self, other):
        import numpy
        return bool(numpy.allclose(other, self.expected, rtol=self.rel, atol=self.abs))
