"""Tests of unittest and pytest: a method of a class, or a function with all its parameters."""
import os
import unittest

from nki._suite import load, pytest_stand_in


def run_test(request, emit, on_error):
    import pytest
    if not hasattr(pytest, "is_stand_in"):
        _run_pytest(request, emit, on_error)
        return
    module = load.module_of(request["root"], request["file"])
    holder, _, name = request["name"].rpartition(".")
    owner = getattr(module, holder) if holder else module
    if isinstance(owner, type) and issubclass(owner, unittest.TestCase):
        _run_unittest(owner, name, emit, on_error)
    else:
        _run_plain(owner() if holder else module, name, emit, on_error)


class _Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.raised = None

    def _keep(self, error):
        if self.raised is None:
            self.raised = error[1]

    def addError(self, test, err):
        self._keep(err)

    def addFailure(self, test, err):
        self._keep(err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self._keep(err)

    def addSkip(self, test, reason):
        self._keep((None, unittest.SkipTest(reason)))


def _run_unittest(owner, name, emit, on_error):
    """With the module's and the class's own preparations; parametrised methods once a set of values."""
    for label, arguments in pytest_stand_in.cases_of(getattr(owner, name)):
        case = owner(name)
        if arguments:
            setattr(case, name, lambda bound=getattr(case, name), values=arguments: bound(**values))
        result = _Result()
        unittest.TestSuite([case]).run(result)
        if result.raised is not None:
            on_error(label, result.raised)
        else:
            emit(label, "passed", "")


def _run_plain(owner, name, emit, on_error):
    """pytest's way without pytest: fixtures of the module by name, setup_method, parameters."""
    function = getattr(owner, name)
    for label, arguments in pytest_stand_in.cases_of(function):
        try:
            pytest_stand_in.call(owner, function, arguments)
        except BaseException as error:
            on_error(label, error)
        else:
            emit(label, "passed", "")


def _run_pytest(request, emit, on_error):
    import pytest

    class Outcomes:
        seen = 0

        @pytest.hookimpl(hookwrapper=True)
        def pytest_runtest_makereport(self, item, call):
            report = (yield).get_result()
            label = item.name[item.name.index("["):] if "[" in item.name else ""
            if call.excinfo is not None and report.outcome != "passed" and not hasattr(report, "wasxfail"):
                self.seen += 1
                on_error(label, call.excinfo.value)
            elif call.when == "call":
                self.seen += 1
                emit(label, "skipped" if report.outcome == "skipped" else "passed", "")
            elif report.outcome == "skipped":
                self.seen += 1
                emit(label, "skipped", str(getattr(report, "wasxfail", "")))

    outcomes = Outcomes()
    path = os.path.join(request["root"], request["file"])
    node = "::".join([path, *request["name"].split(".")])
    pytest.main([node, "-p", "no:cacheprovider", "-q", "--tb=short", *request["pytest"]], plugins=[outcomes])
    if not outcomes.seen:  # not even collected: say why by importing it
        load.module_of(request["root"], request["file"])
        raise RuntimeError("pytest finds no such test")
