"""What the pricing model must hold on the measured steps: errors, and differences between recipes."""
import dataclasses

import numpy

import model
import rows as recipes
from fits import JUDGED


@dataclasses.dataclass
class Limit:
    what: str
    value: float
    low: float
    high: float
    unit: str
    measured: str = ""

    @property
    def holds(self):
        return self.low <= self.value <= self.high


def at_most(what, value, high, unit="%"):
    return Limit(what, value, 0, high, unit)


def of_errors(outcome):
    judged, bronze = outcome.pick("A", *JUDGED), outcome.pick("A", "bronze")
    mine, out = model.summary(outcome.error[judged]), model.summary(outcome.left_out[judged])
    stack = model.summary(outcome.error[outcome.pick("B", *JUDGED)])
    line = model.summary(outcome.straight[judged])
    yield at_most("gold and silver rows: median", mine["median"], 2)
    yield at_most("gold and silver rows: p90", mine["p90"], 4)
    yield at_most("gold and silver rows: worst", mine["worst"], 6)
    yield at_most("bronze rows: p90", model.summary(outcome.error[bronze])["p90"], 7)
    yield at_most("a shape left out: median", out["median"], 3)
    yield at_most("a shape left out: p90", out["p90"], 7)
    yield at_most("a shape left out: worst", out["worst"], 10)
    yield at_most("640-wide stack: median", stack["median"], 3)
    yield at_most("640-wide stack: p90", stack["p90"], 7)
    yield at_most("median against a straight line's", mine["median"] / line["median"], 0.5, "times")
    yield at_most("p90 against a straight line's", mine["p90"] / line["p90"], 0.5, "times")


def step(table, *settings):
    keys = {}
    spec = recipes.ERAS[table]
    recipes.apply_keys(keys, spec["common"] + spec.get("reference", []) + list(settings))
    return recipes.price(keys)["step_seconds"]


def of_differences():
    base = step("steps_by_shape")
    yield Limit("one more layer of 1024", step("steps_by_shape", "model.depth=10") - base, 0.09, 0.12, "s", "0.100 to 0.108")
    yield Limit("MLP x3 to x4", base - step("steps_by_shape", "model.mlp_ratio=3.0"), 0.08, 0.11, "s", "0.084 to 0.089")
    yield Limit("second key and value head of 256", step("steps_by_shape", "model.kv_heads=2") - base, 0.02, 0.07, "s", "0.055")
    yield Limit("head dimension 512 for 256", 100 * (step("steps_by_shape", "model.head_dim=512") / base - 1), -4, 4, "%",
                "-0.5 to -1.5")
    narrow = ["model.depth=12", "model.width=768", "optimizer.sharding=none"]
    long, short = step("steps_by_shape", *narrow), step("steps_by_shape", *narrow, "model.head_dim=128")
    yield Limit("head dimension 128 for 256, 12 x 768", 100 * (short / long - 1), 18, 32, "%", "21 to 26")
    every = step("steps_by_shape", *narrow, "model.head_dim=128", "model.kv_heads=6")
    yield Limit("six key and value heads for one", 100 * (every / short - 1), 14, 25, "%", "17 to 22")
    yield Limit("one micro-batch", (base - step("steps_by_shape", "train.tokens_per_step=65536")) / 3, 0.21, 0.24, "s",
                "0.226 to 0.236")


def within_quarter(what, value, published, unit, low=None):
    low = published if low is None else low
    return Limit(what, value, 0.75 * low, 1.25 * published, unit, f"{published:g}" if low == published else f"{low:g} to {published:g}")


def of_mechanisms():
    base = step("steps_by_shape")
    yield within_quarter("Muon sharded", 1e3 * (step("steps_by_shape", "optimizer.sharding=none") - base), 53, "ms", 48)
    yield within_quarter("head fused", 1e3 * (step("steps_by_shape", "loss.fused=false") - base), 29, "ms", 16)
    narrow = ["model.depth=12", "model.width=768", "optimizer.sharding=none"]
    each = step("steps_by_shape", *narrow, "optimizer.scalars=each")
    yield within_quarter("scalars stacked, 12 x 768", 100 * (1 - step("steps_by_shape", *narrow) / each), 9.1, "%")
    hidden = 2 * 9 * 4 * 8192 * 4096 * 2 / model.CONSTANTS["pass_bytes_per_s"]
    yield within_quarter("two passes fewer over the MLP's hidden tensor", 100 * hidden / base, 2.0, "%")
    yield Limit("products of the 640-wide stack in bf16",
                step("stack_640", "toolchain.auto_cast=matmult") - step("stack_640"), -0.25, -0.15, "s", "-0.18")
    fewer = step("steps_by_shape", "optimizer.sharding=muon", "optimizer.muon_steps=4")
    yield Limit("four Newton-Schulz steps for five", 100 * (1 - fewer / base), 0, 1, "%", "0 to 0.7")


def judge(outcome):
    limits = [*of_errors(outcome), *of_differences(), *of_mechanisms()]
    fitted = sum(row.get("fitted", False) for row in model.PRICING["constants"].values()) + len(model.ERAS["fitted"])
    limits.append(at_most("fitted constants", float(fitted), 8, ""))
    return [dataclasses.replace(limit, value=float(numpy.round(limit.value, 4))) for limit in limits]
