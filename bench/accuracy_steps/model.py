"""The pricing model as a function of its fitted constants, and their robust fit. The program counts products, bytes and ops
(`features`); everything here is the same sum as src/price/step_price.cc, which a check holds to."""
import pathlib
import tomllib

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRICING = tomllib.loads((ROOT / "data/pricing/compiled.toml").read_text())
CONSTANTS = {name: row["value"] for name, row in PRICING["constants"].items()}
# What bench/accuracy_price fits on team A's rows: the shipped constant and how it enters. `head` is the time of a byte.
NAMES = ["head", "step_host_s", "matrix_host_s", "scalar_host_s", "era"]
HUBER = 0.02  # relative errors beyond it count linearly: compilers have bad luck


def shipped():
    c = CONSTANTS
    era = tomllib.loads((ROOT / "data/pricing/eras.toml").read_text())["steps_by_shape"].get("era_factor", {"value": 1.11})
    return numpy.array([1 / c["head_bytes_per_s"], c["step_host_s"], c["matrix_host_s"], c["scalar_host_s"], era["value"]])


def host_share(keys):
    share = CONSTANTS["async_share"] if keys["optimizer.dispatch"] == "async" else 1.0
    share *= {"zero1": CONSTANTS["zero1_share"], "zero2": CONSTANTS["zero2_share"]}.get(keys["optimizer.sharding"], 1.0)
    return share * (CONSTANTS["graph_share"] if keys["train.accumulate"] == "graph" else 1.0)


def terms(row):
    """A row's price as constant + four numbers times the first four of NAMES."""
    f, c = row.price["features"], CONSTANTS
    ranks = 1 if row.keys["optimizer.sharding"] == "none" else int(row.keys["machine.ranks"])
    fixed = (f["product_s"] / c["pe_efficiency"] + (f["bytes"] - f["head_bytes"]) / c["pass_bytes_per_s"]
             + f["muon_flops"] / c["muon_flops_per_s"] / ranks)
    share = host_share(row.keys)
    return fixed, numpy.array([f["head_bytes"], share, share * f["matrices"], share * f["scalars"]])


class Design:
    """Rows turned into arrays once."""

    def __init__(self, rows):
        parts = [terms(row) for row in rows]
        self.fixed = numpy.array([p[0] for p in parts])
        self.linear = numpy.array([p[1] for p in parts])
        self.chip = numpy.array([row.chip for row in rows])
        self.old = numpy.array([row.old_code for row in rows])
        self.measured = numpy.array([row.measured for row in rows])

    def take(self, index):
        part = object.__new__(Design)
        part.__dict__ = {name: array[index] for name, array in self.__dict__.items()}
        return part

    def predict(self, constants):
        sums = self.fixed + self.linear @ constants[:4]
        return self.chip * numpy.where(self.old, constants[4], 1.0) * sums

    def error(self, constants):
        return self.predict(constants) / self.measured - 1

    def fit(self, start, steps=40):
        """Least absolute relative error with a soft middle, by reweighted Gauss-Newton."""
        c = start.copy()
        for _ in range(steps):
            residual = self.error(c)
            weight = numpy.sqrt(numpy.minimum(1, HUBER / numpy.maximum(numpy.abs(residual), 1e-9)))
            factor = self.chip * numpy.where(self.old, c[4], 1.0) / self.measured
            jacobian = numpy.empty((len(residual), 5))
            jacobian[:, :4] = self.linear * factor[:, None]
            jacobian[:, 4] = numpy.where(self.old, (residual + 1) / c[4], 0)
            scale = numpy.maximum(numpy.abs(start), 1e-15)
            change, *_ = numpy.linalg.lstsq(jacobian * scale * weight[:, None], -residual * weight, rcond=1e-8)
            c = numpy.maximum(c + 0.7 * change * scale, 0)
        return c


def bootstrap(design, start, samples=200, seed=1):
    """Standard deviation of each constant over resampled rows."""
    generator = numpy.random.default_rng(seed)
    fits = [design.take(generator.integers(0, len(design.fixed), len(design.fixed))).fit(start, 20)
            for _ in range(samples)]
    return numpy.std(fits, axis=0)


def summary(errors):
    size = numpy.abs(numpy.asarray(errors))
    return {"rows": len(size), "median": float(numpy.median(size)), "p90": float(numpy.percentile(size, 90)),
            "worst": float(size.max())}
