"""One item in a process of its own: reads a request from stdin, appends rows to a file as they are done."""
import ctypes
import json
import os
import resource
import signal
import sys
import time
import warnings


def main():
    _end_with_parent()
    request = json.load(sys.stdin)
    _limit(request)
    sys.stdin = open(os.devnull, encoding="utf-8")
    warnings.simplefilter("ignore")
    os.environ.update(request["env"])
    from nki._suite import load  # the package itself is loaded under the limits too
    load.add_paths(request["root"], request["paths"])
    Child(request).run()


def _end_with_parent():
    """The suite ends its children; killed itself, it cannot."""
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def _limit(request):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    size = request["memory"] << 20
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))


class Child:
    def __init__(self, request):
        from nki._suite.watch import Watch
        self.request = request
        self.watch = Watch()
        self.start = time.monotonic()
        self.out = open(request["out"], "a", encoding="utf-8")

    def run(self):
        try:
            self._dispatch()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.on_error("", error)
        self.out.close()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)  # threads that somebody's test left behind do not hold it up

    def _dispatch(self):
        from nki._suite import pytest_stand_in, run_block, run_kernel, run_test
        pytest_stand_in.install_if_absent()
        request, kind = self.request, self.request["kind"]
        if kind == "test":
            run_test.run_test(request, self.emit, self.on_error)
        elif kind == "example":
            run_block.run_example(request, self.emit)
        elif kind == "page":
            from nki._suite.expect import Expect
            run_block.run_page(request, self.emit, Expect(request["expect"]).row_entry, self.on_error)
        elif kind == "script":
            run_kernel.run_script(request, self.emit)
        else:
            run_kernel.run_kernel(request, self.emit)

    def emit(self, label, status, reason):
        """A row: the item's own name with the label of a case or block behind it."""
        request = self.request
        row = {"file": request["file"], "name": request["name"] + label, "kind": request["kind"], "status": status,
               "reason": reason, "seconds": round(time.monotonic() - self.start, 2), **self.watch.take()}
        self.out.write(json.dumps(row) + "\n")
        self.out.flush()
        self.start = time.monotonic()

    def on_error(self, label, error):
        from nki._suite import outcome
        outcome.report_in_full(error)
        self.emit(label, *outcome.classify(error, self.request["root"]))


if __name__ == "__main__":
    main()
