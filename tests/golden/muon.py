"""Muon with its options, one matrix at a time in float64: the second implementation that
src/tensor/muon.cc is compared with."""
import math

import torch

POLAR_EXPRESS = (
    (8.156554524902461, -22.48329292557795, 15.878769915207462),
    (4.042929935166739, -2.808917465908714, 0.5000178451051316),
    (3.8916678022926607, -2.772484153217685, 0.5060648178503393),
    (3.285753657755655, -2.3681294933425376, 0.46449024233003106),
    (2.3465413258596377, -1.7097828382687081, 0.42323551169305323),
)
DEFAULTS = dict(muon_steps=5, muon_nesterov=True, muon_row_equilibrate=False, muon_renormalise=False,
                muon_normuon=True, muon_cautious=True, muon_beta2=0.9)


class Muon:
    def __init__(self, parameters, options):
        self.parameters = parameters
        self.o = {**DEFAULTS, **options}
        self.momentum = [torch.zeros_like(p) for p in parameters]
        self.second = [None] * len(parameters)

    @torch.no_grad()
    def step(self, lr, momentum, weight_decay):
        for i, p in enumerate(self.parameters):
            self.momentum[i] = momentum * self.momentum[i] + (1 - momentum) * p.grad
            update = self.momentum[i]
            if self.o["muon_nesterov"]:
                update = (1 - momentum) * p.grad + momentum * self.momentum[i]
            update = self.orthogonal(update)
            if self.o["muon_normuon"]:
                update = self.normalise(i, update)
            rate = lr * math.sqrt(max(1.0, p.shape[0] / p.shape[1]))
            decay = rate * weight_decay * p
            if self.o["muon_cautious"]:
                decay = torch.where(update * p >= 0, decay, torch.zeros_like(p))
            p -= rate * update + decay

    def orthogonal(self, x):
        if self.o["muon_row_equilibrate"]:
            norms = x.norm(dim=1, keepdim=True)
            x = x * norms.square().mean().sqrt() / norms.clamp_min(1e-6)
        x = x / (1.01 * x.norm() + 1e-6)
        for a, b, c in POLAR_EXPRESS[: self.o["muon_steps"]]:
            if x.shape[0] > x.shape[1]:
                gram = x.T @ x
                x = a * x + x @ (b * gram + c * gram @ gram)
            else:
                gram = x @ x.T
                x = a * x + (b * gram + c * gram @ gram) @ x
        if self.o["muon_renormalise"]:
            x = x * math.sqrt(min(x.shape)) / x.norm().clamp_min(1e-6)
        return x

    def normalise(self, i, x):
        """One second moment for each row, or each column of a wide matrix; the norm stays."""
        along = 1 if x.shape[0] >= x.shape[1] else 0
        mean = x.square().mean(along, keepdim=True)
        if self.second[i] is None:
            self.second[i] = torch.zeros_like(mean)
        self.second[i] = self.o["muon_beta2"] * self.second[i] + (1 - self.o["muon_beta2"]) * mean
        scaled = x / self.second[i].clamp_min(1e-10).sqrt()
        return scaled * x.norm() / scaled.norm().clamp_min(1e-10)
