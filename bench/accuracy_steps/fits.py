"""Errors of the shipped constants, of constants fitted without a row's own shape, and of two simpler models."""
import dataclasses

import numpy

import model

JUDGED = ("gold", "silver")
FITTED = ("gold", "silver", "bronze")


@dataclasses.dataclass
class Outcome:
    rows: list
    error: numpy.ndarray        # of the shipped constants
    left_out: numpy.ndarray     # of constants fitted without rows of that shape; nan where it was not in the fit
    straight: numpy.ndarray     # of a straight line in scores, MLP elements and 1 (team A)

    def pick(self, team, *qualities):
        return numpy.array([row.team == team and row.quality in qualities for row in self.rows])


def check_sum(rows, design):
    """The program and model.py add up the same numbers."""
    for row, seconds in zip(rows, design.fixed + design.linear[:, :6] @ model.shipped()[:6]):
        if row.keys["toolchain.mode"] == "compiled" and abs(seconds / row.price["step_seconds"] - 1) > 1e-6:
            raise SystemExit(f"{row.name}: model.py says {seconds}, the program {row.price['step_seconds']}")


def leave_shapes_out(rows, design):
    index = numpy.array([row.quality in FITTED for row in rows])
    shapes = numpy.array([f"{row.team} {row.shape}" for row in rows])
    errors = numpy.full(len(rows), numpy.nan)
    for shape in sorted({s for s, row in zip(shapes, rows) if row.team == "A" and row.quality in FITTED}):
        fitted = design.take(index & (shapes != shape)).fit(model.shipped())
        mine = index & (shapes == shape)
        errors[mine] = design.error(fitted)[mine]
    return errors


def straight_line(rows, design):
    """Heads x context x context, MLP elements and a constant, as the simplest model one may think of."""
    def size(row, name):
        return float(row.keys[name])
    columns = numpy.array([[size(r, "train.tokens_per_step") * size(r, "model.depth") * size(r, "data.context")
                            * size(r, "model.width") / size(r, "model.head_dim"),
                            size(r, "train.tokens_per_step") * size(r, "model.depth") * size(r, "model.mlp_ratio")
                            * size(r, "model.width"), 1.0] for r in rows])
    fit = numpy.array([row.team == "A" and row.quality in FITTED + ("fit",) for row in rows])
    scaled = columns[fit] / design.measured[fit][:, None]
    solution, *_ = numpy.linalg.lstsq(scaled, numpy.ones(fit.sum()), rcond=None)
    return columns @ solution / design.measured - 1


def evaluate(rows):
    design = model.Design(rows)
    check_sum(rows, design)
    return Outcome(rows, design.error(model.shipped()), leave_shapes_out(rows, design), straight_line(rows, design))


def refit_text(outcome):
    rows = [row for row in outcome.rows if row.quality in FITTED]
    design = model.Design(rows)
    constants = design.fit(model.shipped())
    spread = model.bootstrap(design, constants)
    lines = []
    for name, value, deviation, kept in zip(model.NAMES, constants, spread, model.shipped()):
        text = f"{name:20} {value:10.4g} +- {deviation:8.2g}   shipped {kept:10.4g}"
        if name == "head":
            text += f"   as head_bytes_per_s {1 / value:.4g} +- {deviation / value / value:.2g}"
        lines.append(text)
    return "\n".join(lines)
