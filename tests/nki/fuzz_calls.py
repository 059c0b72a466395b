"""Calls everything that nki offers with random legal, half-legal and absurd arguments.

    fuzz_calls.py [SEED] [ROUNDS]        $WT_FUZZ_SECONDS: for how long, instead of ROUNDS
Whatever is passed, the answer is a result or an ordinary exception; SystemError, a crash or an error of class
"internal" is a failure. src/nki/fuzz_test.cc runs the same under the sanitizers.
"""
import os
import random
import sys
import time
import warnings

import nki
import nki.isa as nisa
import nki.language as nl
from legal_calls import CALLS
from nki import _core

NEVER = {"device_print"}  # would fill the output


class Raises:
    """Every conversion fails."""

    def _fail(self, *_):
        raise ZeroDivisionError("on purpose")

    __index__ = __int__ = __float__ = __bool__ = __repr__ = __str__ = __len__ = __iter__ = __getitem__ = _fail
    __eq__ = __hash__ = _fail


class Lies:
    """Conversions give what they must not."""

    name = property(lambda self: 3)
    dtype = shape = None

    def __index__(self):
        return "one"

    __int__ = __float__ = __bool__ = __repr__ = __index__


class Issues:
    """Being converted issues instructions and changes a list that is an argument too."""

    def __init__(self, victims):
        self.victims = victims

    def __index__(self):
        del self.victims[:]
        tile = nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.sbuf)
        nisa.memset(dst=tile, value=1.0)
        return 1

    def __float__(self):
        return float(self.__index__())


class Fuzzer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.ops = [getattr(nl, name) for name in ("add", "multiply", "subtract", "maximum", "exp", "copy", "square",
                                                   "equal", "logical_and", "bitwise_xor", "gelu", "rsqrt", "power")
                    if hasattr(nl, name)]
        self.enums = [member for cls in (nisa.engine, nisa.dge_mode, nisa.oob_mode, nisa.reduce_cmd,
                                         nisa.matmul_perf_mode, nisa.dma_engine, nl.MemoryRegion) for member in cls]
        self.dtypes = list(_core.DTYPES.values())
        self.ended = []
        self.answered = self.refused = 0

    # Values.

    def number(self):
        return self.random.choice([0, 1, 2, -1, 3, 7, 16, 32, 64, 127, 128, 129, 512, 1 << 20, 2**31, 2**63 - 1, 2**63,
                                   -2**63, 2**200, 0.0, -0.5, 1.5, 1e300, float("nan"), float("inf"), True, False])

    def odd(self, depth=0):
        choices = [
            lambda: None, self.number, lambda: self.random.choice(["", "add", "sbuf", "float32", "\ud800", "x" * 5000]),
            lambda: b"bytes", object, Raises, Lies, lambda: Issues([1]), lambda: ..., lambda: slice(0, 4, 2),
            lambda: slice("a", Raises()), lambda: self.random.choice(self.ops), lambda: self.random.choice(self.enums),
            lambda: self.random.choice(self.dtypes), lambda: self.random.choice(self.ended or [None]), lambda: nki.NkiError,
            lambda: (i for i in range(3)), lambda: nisa.memset, lambda: 1j, lambda: bytearray(8), lambda: print,
            lambda: {1: 2}, lambda: {"h": 4}, lambda: lambda *args: None, self.tensor, self.register,
        ]
        if depth < 2:
            choices += [lambda: tuple(self.odd(depth + 1) for _ in range(self.random.randrange(4))),
                        lambda: [self.odd(depth + 1) for _ in range(self.random.randrange(4))],
                        lambda: [[1, 4], [1, 4]], lambda: _core.ds(self.odd(2), self.number())]
        return self.random.choice(choices)()

    def tensor(self):
        return self.random.choice(self.tensors)

    def register(self):
        return self.random.choice(self.registers)

    def view(self):
        return self.changed(self.tensor())

    def changed(self, tensor):
        """The tensor itself or a view of it."""
        for _ in range(self.random.randrange(3)):
            try:
                tensor = self.random.choice([
                    lambda t: t[..., 0:self.random.randrange(1, 9)], lambda t: t[:, ::2], lambda t: t.expand_dim(1),
                    lambda t: t.view(self.random.choice(self.dtypes)), lambda t: t.reshape((t.shape[0], -1)),
                    lambda t: t.broadcast(-1, 4), lambda t: t[0:self.random.choice([1, 32, 33, 64])],
                    lambda t: t.ap([[t.strides[0], 4], [self.random.randrange(-1, 3), 4]], self.random.randrange(8)),
                    lambda t: t.select(-1, self.register()), lambda t: t[..., _core.ds(self.register(), 2)],
                    lambda t: t.vector_select(0, self.tensor()), lambda t: t.permute((0, 2, 1)),
                ])(tensor)
            except Exception:
                pass
        return tensor

    def fill(self):
        """New tensors of few shapes, so that some of them fit each other."""
        rows, columns = self.random.choice([(128, 64), (64, 64), (32, 32), (128, 128), (16, 8), (4, 1), (1, 1), (1, 16)])
        self.tensors, self.registers = [], []
        for _ in range(8):
            shape = (rows, self.random.choice([columns, columns, columns, 1, 8]))
            dtype = self.random.choice(self.dtypes + [_core.DTYPES["float32"]] * 6 + [_core.DTYPES["bfloat16"]] * 4)
            buffer = self.random.choice([nl.sbuf, nl.sbuf, nl.sbuf, nl.psum, nl.shared_hbm, nl.private_hbm])
            tensor = nl.ndarray(shape, dtype=dtype, buffer=buffer)
            self.tensors.append(tensor)
            if self.random.random() < 0.8:
                self.attempt(lambda: fill_tensor(tensor, self.random.choice([0, 1, 2, 3])))
        for value in (0, 1, 3, -1):
            register = nisa.register_alloc()
            self.registers.append(register)
            if "register_move" in _core.INSTRUCTIONS:
                nisa.register_move(register, value)

    # Calls.

    def attempt(self, call):
        try:
            call()
        except SystemError:
            raise
        except nki.NkiError as error:
            if error.error_class == "internal":
                raise
            self.refused += 1
        except Exception:
            self.refused += 1
        else:
            self.answered += 1

    def instruction(self):
        """A legal call, mostly spoilt in one place or two."""
        name = self.random.choice(list(_core.INSTRUCTIONS))
        arguments = CALLS[name]() if name in CALLS else {}
        for _ in range(self.random.choice([0, 1, 1, 1, 2])):
            self.spoil(name, arguments)
        callable_ = _core.INSTRUCTIONS[name]
        if self.random.random() < 0.1:
            return lambda: callable_(*arguments.values(), *[self.odd() for _ in range(self.random.randrange(20))])
        return lambda: callable_(**arguments)

    def spoil(self, name, arguments):
        parameter = self.random.choice(_core.INSTRUCTIONS[name].parameters)
        old = arguments.get(parameter)
        if self.random.random() < 0.1:
            arguments.pop(parameter, None)
        elif self.random.random() < 0.05:
            arguments[self.random.choice(["dest", "mask", "", "\ud800", "nam"])] = 1
        elif isinstance(old, _core.NkiTensor) and self.random.random() < 0.5:
            arguments[parameter] = self.changed(old)
        elif isinstance(old, (list, tuple)) and self.random.random() < 0.5:
            items = list(old) or [0]
            items[self.random.randrange(len(items))] = self.odd()
            arguments[parameter] = items
            for other in arguments:
                if isinstance(arguments[other], (int, float)) and self.random.random() < 0.2:
                    arguments[other] = Issues(items)
        else:
            arguments[parameter] = self.likely() if self.random.random() < 0.6 else self.odd()

    def likely(self):
        return self.random.choice([self.tensor, self.register, lambda: self.random.choice(self.ops),
                                   lambda: self.random.choice(self.enums), self.number, lambda: True,
                                   lambda: [[1, 8], [0, 4]], lambda: (1, 0)])()

    def method(self):
        tensor = self.view()
        name = self.random.choice([name for name in dir(tensor) if not name.startswith("__")])
        value = getattr(tensor, name)
        if not callable(value):
            return lambda: (repr(value), setattr(tensor, name, 1))
        return lambda: value(*[self.odd() for _ in range(self.random.randrange(6))])

    def item(self):
        tensor, key = self.view(), self.odd()
        return self.random.choice([lambda: tensor[key], lambda: tensor[key, self.odd()], lambda: tensor.__setitem__(key, 1),
                                   lambda: tensor.__delitem__(key), lambda: (len(tensor), bool(tensor), repr(tensor))])

    def register_use(self):
        register = self.register()
        return self.random.choice([lambda: int(register), lambda: register + 1, lambda: range(register), lambda: bool(register),
                                   lambda: repr(register), lambda: [1, 2][register], lambda: 2 * register])

    def language(self):
        name = self.random.choice([name for name in dir(nl) if not name.startswith("_") and name not in NEVER])
        value = getattr(nl, name)
        if not callable(value) or name in ("ndarray", "zeros", "ones", "full", "rand", "zeros_like", "empty_like"):
            return lambda: repr(value)
        return lambda: value(*[self.view() if self.random.random() < 0.6 else self.odd()
                               for _ in range(self.random.randrange(5))])

    def core(self):
        """Functions of the native module, whatever they are for."""
        name = self.random.choice(["ndarray", "new_register", "freeze", "read_register", "mark_comparison", "fetch", "input",
                                   "machine_constant", "raise_error", "dtype", "ds", "host_array", "NkiTensor",
                                   "VirtualRegister", "NkiInstruction", "HostArray", "Session", "begin_ordered", "end_ordered"])
        function = getattr(_core, name)
        wild = [self.odd() for _ in range(self.random.randrange(6))]
        if name in ("ndarray", "input", "host_array") and self.values:
            wild[:1] = [self.random.choice([(4, 4), (), (0,), (-1, 2), "ab", None, (2,) * 9])]
        if name in ("raise_error", "machine_constant"):  # say "internal" of names that are not theirs
            return lambda: None
        return lambda: function(*wild)

    def dtype(self):
        dtype, other = self.random.choice(self.dtypes), self.odd()
        return lambda: (dtype == other, other == dtype, hash(dtype), repr(dtype), dtype < "g", f"{dtype}", dtype.itemsize)

    def handle(self):
        first = nisa.memset(dst=self.tensors[0], value=0)
        return lambda: first.depends_on(*[self.odd() for _ in range(2)], first)

    def calls(self, count):
        self.attempt(self.fill)
        for _ in range(count):
            make = self.random.choice([self.instruction] * 8 + [self.method, self.item, self.register_use, self.language,
                                                                self.core, self.dtype, self.handle])
            self.attempt(lambda: make()())
        self.ended = self.ended[-20:] + self.tensors[:2] + self.registers[:1]

    def session(self, count, platform, values):
        self.values = values
        session = _core.Session(platform=platform, values=values, max_instructions=20 * count, seed=1)
        with session:
            self.calls(count)
        session.close()


def two_cores(seed, count):
    """Both cores do as they like; what waits for ever is ended by an error."""
    fuzzers = [Fuzzer(seed), Fuzzer(seed + 1)]

    def kernel():
        fuzzer = fuzzers[nl.program_id()]
        fuzzer.values = True
        fuzzer.calls(count)

    try:
        nki.simulate(kernel)[2]()
    except nki.NkiError as error:
        if error.error_class == "internal":
            raise


def fill_tensor(tensor, value):
    source = tensor
    if nl.is_hbm(tensor.buffer):
        source = nl.ndarray((1, tensor.size), dtype=tensor.dtype, buffer=nl.sbuf)
    nisa.memset(dst=source, value=value if tensor.dtype.is_integer else float(value))
    if source is not tensor:
        nisa.dma_copy(dst=tensor, src=source)


def main(seed=0, rounds=60):
    print(f"fuzz_calls.py {seed}", flush=True)
    warnings.simplefilter("ignore")
    seconds = float(os.environ.get("WT_FUZZ_SECONDS") or 0)
    end = time.monotonic() + seconds
    fuzzer = Fuzzer(seed)
    done = 0
    while time.monotonic() < end if seconds else done < rounds:
        fuzzer.session(100, platform=("trn2", "trn3", "trn1")[done % 3], values=done % 4 != 3)
        if done % 8 == 0:
            two_cores(seed + done, 30)
        done += 1
    print(f"{done} sessions: {fuzzer.answered} calls answered, {fuzzer.refused} refused")
    assert fuzzer.answered and fuzzer.refused


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
