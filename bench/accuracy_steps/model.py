"""The pricing model as a function of its fitted constants, and their robust fit. The program counts products, bytes and ops
(`features` of its JSON); what follows is the sum of src/price/step_price.cc once more, which `check` in report.py holds it to."""
import pathlib
import tomllib

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRICING = tomllib.loads((ROOT / "data/pricing/compiled.toml").read_text())
ERAS = tomllib.loads((ROOT / "data/pricing/eras.toml").read_text())
CONSTANTS = {name: row["value"] for name, row in PRICING["constants"].items()}
# The fitted constants. `head` is the time of a byte; the last two are of eras.toml: a factor on team A's steps before its
# compiler flags, and what team B's code before the evening of 9 Sep took more for 131,072 tokens.
NAMES = ["head", "step_host_s", "matrix_host_s", "scalar_host_s", "gather_s", "compiled_update_s", "old_code_s", "era_factor"]
FACTOR = len(NAMES) - 1
HUBER = 0.02  # relative errors beyond it count linearly: compilers have bad luck


def shipped():
    """The fitted constants as data/pricing has them."""
    c = dict(CONSTANTS, head=1 / CONSTANTS["head_bytes_per_s"], **{name: row["value"] for name, row in ERAS["fitted"].items()})
    return numpy.array([c[name] for name in NAMES])


def host_share(keys):
    share = CONSTANTS["async_share"] if keys["optimizer.dispatch"] == "async" else 1.0
    share *= {"zero1": CONSTANTS["zero1_share"], "zero2": CONSTANTS["zero2_share"]}.get(keys["optimizer.sharding"], 1.0)
    return share * (CONSTANTS["graph_share"] if keys["train.accumulate"] == "graph" else 1.0)


def terms(row):
    """A row's price as a constant and numbers times all of NAMES but the last."""
    f, c, keys = row.price["features"], CONSTANTS, row.keys
    ranks = 1 if keys["optimizer.sharding"] == "none" else int(keys["machine.ranks"])
    fixed = (f["product_s"] / c["pe_efficiency"] + (f["bytes"] - f["head_bytes"]) / c["pass_bytes_per_s"]
             + f["muon_flops"] / c["muon_flops_per_s"] / ranks)
    compiled = keys["optimizer.dispatch"] == "compiled"
    share = 0 if compiled else host_share(keys)
    old = int(keys["train.tokens_per_step"]) / 131072 if row.team == "B" and row.old_code else 0
    return fixed, numpy.array([f["head_bytes"], share, share * f["matrices"], share * f["scalars"], f["gathered_rows"],
                               float(compiled), old])


class Design:
    """Rows turned into arrays once."""

    def __init__(self, rows):
        parts = [terms(row) for row in rows]
        self.fixed = numpy.array([p[0] for p in parts])
        self.linear = numpy.array([p[1] for p in parts])
        self.chip = numpy.array([row.chip for row in rows])
        self.old = numpy.array([row.team == "A" and row.old_code for row in rows])
        self.measured = numpy.array([row.measured for row in rows])

    def take(self, index):
        part = object.__new__(Design)
        part.__dict__ = {name: array[index] for name, array in self.__dict__.items()}
        return part

    def predict(self, constants):
        sums = self.fixed + self.linear @ constants[:FACTOR]
        return self.chip * numpy.where(self.old, constants[FACTOR], 1.0) * sums

    def error(self, constants):
        return self.predict(constants) / self.measured - 1

    def fit(self, start, steps=40):
        """Least relative errors, squared when small and absolute when large: reweighted Gauss-Newton."""
        c = start.copy()
        for _ in range(steps):
            residual = self.error(c)
            weight = numpy.sqrt(numpy.minimum(1, HUBER / numpy.maximum(numpy.abs(residual), 1e-9)))
            factor = self.chip * numpy.where(self.old, c[FACTOR], 1.0) / self.measured
            jacobian = numpy.empty((len(residual), len(NAMES)))
            jacobian[:, :FACTOR] = self.linear * factor[:, None]
            jacobian[:, FACTOR] = numpy.where(self.old, (residual + 1) / c[FACTOR], 0)
            change, *_ = numpy.linalg.lstsq(jacobian * start * weight[:, None], -residual * weight, rcond=1e-8)
            c = numpy.maximum(c + 0.7 * change * start, 0)
        return c


def bootstrap(design, start, samples=300, seed=1):
    """Standard deviation of each constant over resampled rows."""
    generator = numpy.random.default_rng(seed)
    fits = [design.take(generator.integers(0, len(design.fixed), len(design.fixed))).fit(start, 20)
            for _ in range(samples)]
    return numpy.std(fits, axis=0)


def summary(errors):
    size = 100 * numpy.abs(numpy.asarray(errors))
    return {"rows": len(size), "median": float(numpy.median(size)), "p90": float(numpy.percentile(size, 90)),
            "worst": float(size.max())}
