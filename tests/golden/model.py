"""The GPT family of docs/RECIPE.md once more, in PyTorch and float64, written from the formulas and not
from the C++: make_golden.py trains it to make the expected values of golden_test.cc."""
import math

import numpy as np
import torch
import torch.nn.functional as F

MODEL_DEFAULTS = dict(
    kv_heads=0, mlp_ratio=4, activation="relu2", leaky_slope=0.35, rope_base=100000, qk_norm=True,
    qk_gain=1.0, softcap=15, tied_head=False, residual_mix=True, value_embedding_layers=[],
    value_embedding_shared=False, value_embedding_gate=0, window_pattern="L", short_window=0,
    conv_taps=0, smear_channels=0, attention_source_from=0, attention_source_layer=-1,
    predict_tokens=1, norm_eps=1.1920929e-7)


def hash32(index, phase):
    """Well-mixed 32-bit integers from an array of indices: the formula that golden_test.cc repeats."""
    x = (np.asarray(index, dtype=np.uint64) + 1) * 0x9E3779B9 + phase * 0x85EBCA6B
    x &= 0xFFFFFFFF
    for shift, factor in ((16, 0x21F0AAAD), (15, 0x735A2D97)):
        x = ((x ^ (x >> shift)) * factor) & 0xFFFFFFFF
    return x ^ (x >> 15)


def formula(count, phase, base, scale):
    """float32 values base + scale * u, u in [-1, 1)."""
    u = hash32(np.arange(count), phase) / 2.0**31 - 1.0
    return (base + scale * u).astype(np.float32)


def rms_norm(x, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


def rotate(x, base):
    """x: [batch, time, heads, head_dim]; pairs (i, i + head_dim / 2) turn by minus the angle."""
    half = x.shape[-1] // 2
    frequency = base ** (-torch.arange(half, dtype=x.dtype) / half)
    angle = torch.arange(x.shape[1], dtype=x.dtype)[:, None, None] * frequency
    first, second = x[..., :half], x[..., half:]
    turned = torch.complex(first, second) * torch.polar(torch.ones_like(angle), -angle)
    return torch.cat([turned.real, turned.imag], -1)


class Gpt:
    """Parameters live in `self.p` under the names of the C++ program. `kind` is the optimiser group."""

    def __init__(self, config, vocab):
        self.c = {**MODEL_DEFAULTS, **config}
        self.vocab = vocab
        self.p, self.spec = {}, []
        c = self.c
        self.width, self.hd = c["width"], c["head_dim"]
        self.heads = self.width // self.hd
        self.kv = c["kv_heads"] or self.heads
        self.value_layers = {l % c["depth"] for l in c["value_embedding_layers"]}
        self._declare_all()

    def _declare(self, name, shape, kind, base=0.0, scale=None):
        if scale is None:
            scale = math.sqrt(3.0 / shape[-1])
        phase = len(self.spec) + 1
        self.spec.append(dict(name=name, shape=list(shape), kind=kind, base=base, scale=scale, phase=phase))
        values = formula(math.prod(shape), phase, base, scale).reshape(shape)
        self.p[name] = torch.tensor(values, dtype=torch.float64, requires_grad=True)

    def _declare_all(self):
        c, w, depth = self.c, self.width, self.c["depth"]
        hidden = round(c["mlp_ratio"] * w)
        self._declare("embedding", (self.vocab, w), "embedding", scale=0.6 if c["tied_head"] else 1.5)
        if c["smear_channels"]:
            self._declare("smear.gate", (1, c["smear_channels"]), "scalar", scale=0.5)
            self._declare("smear.lambda", (1,), "scalar", base=0.4, scale=0.1)
        if c["residual_mix"]:
            self._declare("residual_scale", (depth,), "scalar", base=1.0, scale=0.2)
            self._declare("x0_scale", (depth,), "scalar", base=0.2, scale=0.1)
        if c["value_embedding_shared"]:
            self._declare("value_embedding", (self.vocab, self.kv * self.hd), "value_embedding", scale=0.5)
        for i in range(depth):
            a, m = f"layer{i}.attention", f"layer{i}.mlp"
            reused = c["attention_source_layer"] >= 0 and i >= c["attention_source_from"]
            if c["conv_taps"] and not reused:
                self._declare(a + ".conv", (c["conv_taps"], w), "scalar", base=0.4, scale=0.4)
            self._declare(a + ".q", (w, w), "matrix")
            self._declare(a + ".k", (self.kv * self.hd, w), "matrix")
            self._declare(a + ".v", (self.kv * self.hd, w), "matrix")
            if i in self.value_layers:
                if not c["value_embedding_shared"]:
                    self._declare(f"value_embedding{i}", (self.vocab, self.kv * self.hd), "value_embedding",
                                  scale=0.5)
                if c["value_embedding_gate"]:
                    self._declare(a + ".value_gate", (self.kv, c["value_embedding_gate"]), "matrix", scale=0.5)
            self._declare(a + ".out", (w, w), "matrix")
            self._declare(m + ".up", (hidden, w), "matrix")
            if c["activation"] == "swiglu":
                self._declare(m + ".gate", (hidden, w), "matrix")
            self._declare(m + ".down", (w, hidden), "matrix")
        if not c["tied_head"]:
            self._declare("head", (self.vocab, w), "head", scale=0.6)

    def norm(self, x):
        return rms_norm(x, self.c["norm_eps"])

    def linear(self, x, name):
        return F.linear(x, self.p[name])

    def smear(self, x):
        gate = torch.sigmoid(self.linear(x[..., : self.c["smear_channels"]], "smear.gate"))
        before = torch.cat([torch.zeros_like(x[:, :1]), x[:, :-1]], 1)
        return x + self.p["smear.lambda"] * gate * before

    def conv(self, x, name):
        """Depthwise and causal, through conv1d: its kernel runs the other way round."""
        w = self.p[name]
        kernel = w.flip(0).t().unsqueeze(1)  # [width, 1, taps]
        padded = F.pad(x.transpose(1, 2), (w.shape[0] - 1, 0))
        return F.conv1d(padded, kernel, groups=self.width).transpose(1, 2)

    def mask(self, time, layer):
        pattern = self.c["window_pattern"]
        short = pattern[layer % len(pattern)] == "S" and layer != self.c["depth"] - 1
        window = self.c["short_window"] if short else time
        distance = torch.arange(time)[:, None] - torch.arange(time)[None, :]
        return (distance >= 0) & (distance <= window)

    def queries_or_keys(self, h, name, heads):
        x = self.linear(h, name).view(*h.shape[:2], heads, self.hd)
        x = rotate(x, self.c["rope_base"])
        if self.c["qk_norm"]:
            x = self.norm(x)
        return x * self.c["qk_gain"]

    def values(self, h, tokens, layer, name):
        v = self.linear(h, name + ".v").view(*h.shape[:2], self.kv, self.hd)
        if layer not in self.value_layers:
            return v
        table = "value_embedding" if self.c["value_embedding_shared"] else f"value_embedding{layer}"
        e = self.p[table][tokens].view_as(v)
        channels = self.c["value_embedding_gate"]
        if channels:
            e = 3 * torch.sigmoid(self.linear(h[..., :channels], name + ".value_gate")).unsqueeze(-1) * e
        return v + e

    def attention(self, h, tokens, layer):
        name, group = f"layer{layer}.attention", self.heads // self.kv
        q = self.queries_or_keys(h, name + ".q", self.heads)
        k = self.queries_or_keys(h, name + ".k", self.kv).repeat_interleave(group, 2)
        v = self.values(h, tokens, layer, name).repeat_interleave(group, 2)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(self.hd)
        scores = scores.masked_fill(~self.mask(h.shape[1], layer), -math.inf)
        y = torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), v)
        return self.linear(y.reshape(*h.shape[:2], self.width), name + ".out")

    def mlp(self, h, layer):
        name, kind = f"layer{layer}.mlp", self.c["activation"]
        u = self.linear(h, name + ".up")
        if kind == "swiglu":
            u = F.silu(self.linear(h, name + ".gate")) * u
        elif kind == "relu2":
            u = F.relu(u).square()
        elif kind == "leaky_relu2":
            u = F.leaky_relu(u, self.c["leaky_slope"]).square()
        else:
            u = dict(gelu=F.gelu, silu=F.silu)[kind](u)
        return self.linear(u, name + ".down")

    def logits(self, tokens):
        c = self.c
        x = self.norm(self.p["embedding"][tokens])
        if c["smear_channels"]:
            x = self.smear(x)
        x0, source = x, None
        for i in range(c["depth"]):
            if c["residual_mix"]:
                x = self.p["residual_scale"][i] * x + self.p["x0_scale"][i] * x0
            if c["attention_source_layer"] >= 0 and i >= c["attention_source_from"]:
                h = source
            else:
                h = self.norm(x)
                if c["conv_taps"]:
                    h = self.conv(h, f"layer{i}.attention.conv")
            if i == c["attention_source_layer"]:
                source = h
            x = x + self.attention(h, tokens, i)
            x = x + self.mlp(self.norm(x), i)
        z = self.linear(self.norm(x), "embedding" if c["tied_head"] else "head")
        return c["softcap"] * torch.tanh(z / c["softcap"]) if c["softcap"] else z

    def loss(self, tokens, targets, weights):
        """The weighted sum over the targets ahead of each one's mean over the positions that have it."""
        logits, total = self.logits(tokens), 0.0
        for ahead, weight in enumerate(weights):
            reach = logits.shape[1] - ahead
            total = total + weight * F.cross_entropy(
                logits[:, :reach].reshape(-1, self.vocab), targets[:, ahead:].reshape(-1), ignore_index=-1)
        return logits, total
