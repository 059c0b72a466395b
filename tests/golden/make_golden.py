#!/usr/bin/python3
"""Makes the expected values of golden_test.cc: for each recipe here (NAME.toml) the logits, the loss and
every gradient at the start, then the losses of ten steps with AdamW alone and with Muon for the matrices,
and what the parameters are after them. Run by hand with Debian's python3-torch; the outputs are committed.

    /usr/bin/python3 tests/golden/make_golden.py
"""
import json
import math
import pathlib
import tomllib

import torch

from model import Gpt, formula, hash32
from muon import Muon

HERE = pathlib.Path(__file__).resolve().parent
VOCAB, STEPS, TOKEN_PHASE, HOLE_PHASE, PROBE_PHASE = 32, 10, 1001, 1002, 1003
ADAM_GROUPS = ("embedding", "value_embedding", "head", "scalar", "matrix")


def rounded(values):
    return [float(f"{v:.9g}") for v in values]


def flat(tensor):
    return rounded(tensor.detach().reshape(-1).tolist())


def micro_batch(index, rows, context):
    """Tokens and the ones after them; about one target in eight is not scored."""
    first = index * rows * (context + 1)
    places = first + torch.arange(rows * (context + 1)).view(rows, context + 1).numpy()
    tokens = torch.tensor((hash32(places, TOKEN_PHASE) % VOCAB).astype("int64"))
    holes = torch.tensor((hash32(places, HOLE_PHASE) % 8).astype("int64")) == 0
    return tokens[:, :-1], tokens.masked_fill(holes, -1)[:, 1:]


class Trainer:
    def __init__(self, recipe, matrix):
        self.recipe, self.matrix, self.o = recipe, matrix, recipe["optimizer"]
        self.model = Gpt(recipe["model"], VOCAB)
        self.context, self.rows = recipe["data"]["context"], recipe["train"]["rows_per_core"]
        self.micro_batches = recipe["train"]["tokens_per_step"] // (self.rows * self.context)
        self.weights = recipe.get("schedule", {}).get("mtp_weights", [1.0])
        self.by_kind = {}
        for spec in self.model.spec:
            self.by_kind.setdefault(spec["kind"], []).append(self.model.p[spec["name"]])
        self.muon = Muon(self.by_kind["matrix"], self.o) if matrix == "muon" else None
        self.adam = {k: self.make_adam(k) for k in ADAM_GROUPS
                     if k in self.by_kind and not (k == "matrix" and self.muon)}

    def make_adam(self, kind):
        name = "matrix_adamw" if kind == "matrix" else kind
        lr = self.o[name + "_lr"]
        if self.o.get("lr_width_scaling", True) and kind in ("embedding", "value_embedding", "head"):
            lr *= (self.model.width / 768) ** -0.5
        adam = torch.optim.AdamW(self.by_kind[kind], lr=lr, betas=self.o[name + "_betas"],
                                 eps=self.o["adam_eps"], weight_decay=self.o[name + "_weight_decay"])
        return adam, lr, self.o[name + "_weight_decay"]

    def gradients(self, step):
        """The mean over the step's micro-batches, in `grad` of every parameter."""
        total = 0.0
        for p in self.model.p.values():
            p.grad = torch.zeros_like(p)
        for m in range(self.micro_batches):
            batch = micro_batch(step * self.micro_batches + m, self.rows, self.context)
            loss = self.model.loss(*batch, self.weights)[1] / self.micro_batches
            loss.backward()
            total += float(loss)
        return total

    def step(self, step, lr_scale, momentum, decay_scale):
        loss, clip = self.gradients(step), self.o.get("grad_clip", 0)
        parameters = list(self.model.p.values())
        norm = math.sqrt(sum(float(p.grad.square().sum()) for p in parameters))
        if clip and norm > clip:
            for p in parameters:
                p.grad *= clip / norm
        for adam, lr, decay in self.adam.values():
            adam.param_groups[0].update(lr=lr * lr_scale, weight_decay=decay * decay_scale)
            adam.step()
        if self.muon:
            self.muon.step(self.o["muon_lr"] * lr_scale, momentum, self.o["muon_weight_decay"] * decay_scale)
        return loss, norm


def summary(parameter):
    """Sum, Euclidean norm, and the product with fixed noise, which notices elements out of place."""
    noise = torch.tensor(formula(parameter.numel(), PROBE_PHASE, 0.0, 1.0), dtype=torch.float64)
    values = parameter.detach().reshape(-1)
    return rounded([float(values.sum()), float(values.norm()), float(values @ noise)])


def train(recipe, matrix):
    trainer = Trainer(recipe, matrix)
    schedule = [dict(lr_scale=1 - 0.05 * s, muon_momentum=0.85 + 0.01 * s, weight_decay_scale=1 - 0.02 * s)
                for s in range(STEPS)]
    steps = [trainer.step(s, *schedule[s].values()) for s in range(STEPS)]
    return dict(matrix=matrix, schedule=[rounded(row.values()) for row in schedule],
                losses=rounded(s[0] for s in steps), gradient_norms=rounded(s[1] for s in steps),
                final={name: summary(p) for name, p in trainer.model.p.items()})


def start(recipe):
    trainer = Trainer(recipe, "adamw")
    model = trainer.model
    logits, loss = model.loss(*micro_batch(0, trainer.rows, trainer.context), trainer.weights)
    loss.backward()
    return dict(parameters=model.spec, logits=flat(logits), loss=rounded([float(loss)])[0],
                gradients={name: flat(p.grad) for name, p in model.p.items()})


def main():
    for path in sorted(HERE.glob("*.toml")):
        recipe = tomllib.loads(path.read_text())
        golden = dict(vocab=VOCAB, **start(recipe), runs=[train(recipe, m) for m in ("adamw", "muon")])
        out = path.with_suffix(".json")
        out.write_text(json.dumps(golden, separators=(",", ":")) + "\n")
        print(f"{out.name}: {out.stat().st_size} bytes, loss {golden['loss']:.6f}, last losses "
              + ", ".join(f"{r['matrix']} {r['losses'][-1]:.6f}" for r in golden["runs"]))


if __name__ == "__main__":
    main()
