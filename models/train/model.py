"""The model: the llama architecture as llama.cpp computes it."""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Shape:
    vocab: int
    width: int = 192
    layers: int = 6
    heads: int = 3
    kv_heads: int = 3
    ff: int = 512
    base: float = 1e7  # of the rotary frequencies
    eps: float = 1e-5

    @property
    def head(self):
        return self.width // self.heads


class Norm(nn.Module):
    """Root mean square norm."""

    def __init__(self, width, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x):
        x = x.float()
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.eps) * self.weight


def rotary(shape, length, device):
    """Cosines and sines for each place and pair of neighbours."""
    step = shape.base ** (-torch.arange(0, shape.head, 2, device=device).float() / shape.head)
    angle = torch.outer(torch.arange(length, device=device).float(), step)
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    """Turns pairs of neighbouring elements, which is llama.cpp's layout NORM."""
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2).type_as(x)


class Block(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s = s
        kv = s.kv_heads * s.head
        self.attn_norm = Norm(s.width, s.eps)
        self.attn_q = nn.Linear(s.width, s.width, bias=False)
        self.attn_k = nn.Linear(s.width, kv, bias=False)
        self.attn_v = nn.Linear(s.width, kv, bias=False)
        self.attn_output = nn.Linear(s.width, s.width, bias=False)
        self.ffn_norm = Norm(s.width, s.eps)
        self.ffn_gate = nn.Linear(s.width, s.ff, bias=False)
        self.ffn_up = nn.Linear(s.width, s.ff, bias=False)
        self.ffn_down = nn.Linear(s.ff, s.width, bias=False)

    def forward(self, x, cos, sin, mask):
        s, (n, t, _) = self.s, x.shape
        h = self.attn_norm(x)
        split = lambda y, heads: y.view(n, t, heads, s.head).transpose(1, 2)
        q = rotate(split(self.attn_q(h), s.heads), cos, sin)
        k = rotate(split(self.attn_k(h), s.kv_heads), cos, sin)
        v = split(self.attn_v(h), s.kv_heads)
        if s.kv_heads != s.heads:
            k = k.repeat_interleave(s.heads // s.kv_heads, 1)
            v = v.repeat_interleave(s.heads // s.kv_heads, 1)
        if mask is None:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            score = torch.baddbmm(
                mask.expand(n * s.heads, t, t),
                q.reshape(-1, t, s.head),
                k.reshape(-1, t, s.head).transpose(1, 2),
                alpha=1 / math.sqrt(s.head),
            )
            y = torch.bmm(score.softmax(-1), v.reshape(-1, t, s.head)).view(n, s.heads, t, s.head)
        x = x + self.attn_output(y.transpose(1, 2).reshape(n, t, s.width))
        h = self.ffn_norm(x)
        return x + self.ffn_down(F.silu(self.ffn_gate(h)) * self.ffn_up(h))


class Model(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.token_embd = nn.Embedding(shape.vocab, shape.width)
        self.blk = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.output_norm = Norm(shape.width, shape.eps)

    def forward(self, ids, where):
        """Logits at the places where, which index the flattened ids."""
        t, device = ids.shape[1], ids.device
        cos, sin = rotary(self.shape, t, device)
        mask = None
        if device.type == "cpu":
            mask = torch.full((1, t, t), float("-inf")).triu(1)
        x = self.token_embd(ids)
        for block in self.blk:
            x = block(x, cos, sin, mask)
        x = self.output_norm(x.flatten(0, 1)[where])
        return F.linear(x, self.token_embd.weight)


@torch.no_grad()
def start(model, induction=True):
    """Sets the weights to begin with.

    Extraction is copying, and copying takes two layers that work together: a
    head that tells every token what stands before it, and later heads that
    look for the place where the present tokens stood before and read what
    followed there. Both take long to arise by chance and are simple to write
    down, so they are written down: the rest of the training starts with a
    model that continues whatever it has begun to repeat.
    """
    s = model.shape
    for block in model.blk:
        for m in (block.attn_q, block.attn_k, block.attn_v, block.ffn_gate, block.ffn_up):
            nn.init.normal_(m.weight, std=s.width**-0.5)
        nn.init.zeros_(block.attn_output.weight)
        nn.init.zeros_(block.ffn_down.weight)
    nn.init.normal_(model.token_embd.weight, std=1)
    nn.init.constant_(model.output_norm.weight, 0.1)
    if not induction or s.kv_heads != s.heads:
        return
    # Coordinates of the residual stream: 4 that are the same for all tokens,
    # twice a few for the tokens that stood one and two places before, the rest
    # for the token itself.
    few = 32
    const, own = slice(0, 4), 4 + 2 * few
    before = [slice(4, 4 + few), slice(4 + few, own)]
    emb = model.token_embd.weight
    emb[:, const] = 1
    emb[:, 4:own] = 0
    step = s.base ** (-torch.arange(0, s.head, 2).float() / s.head)
    mix = torch.randn(few, s.width - own) * (s.width - own) ** -0.5

    # First layer: one head attends to the place before, one to that before it.
    # With the key turned by n places, the score at distance d is the sum of
    # weight·cos(frequency·(d-n)), which is largest at d = n. These weights,
    # found by trial, leave a fifth of it between n and all other distances.
    first = model.blk[0]
    weight = torch.tensor([0.28, 0.27, 0.27, 0.08, 0.09])
    for head in range(2):
        rows = slice(head * s.head, (head + 1) * s.head)
        for m, turn in ((first.attn_q.weight, 0), (first.attn_k.weight, head + 1)):
            m[rows] = 0
            for f in range(len(weight)):
                size = (40 * s.head**0.5 * weight[f]).sqrt() / 4
                m[rows.start + 2 * f, const] = size * torch.cos(step[f] * turn)
                m[rows.start + 2 * f + 1, const] = size * torch.sin(step[f] * turn)
        first.attn_v.weight[rows] = 0
        first.attn_v.weight[rows.start : rows.start + few, own:] = mix
        first.attn_output.weight[before[head], rows.start : rows.start + few] = torch.eye(few)

    # Second layer, as many heads as cover the token's coordinates: the query
    # is the present token and the one before it, the key what stood before a
    # place, compared in the elements that hardly turn; the value is the token
    # at that place.
    second = model.blk[1]
    still = int((step > 1e-3).sum()) * 2
    n = s.head - still
    size = (4.4 * (s.head / 64) ** 0.5) ** 0.5
    for head in range(min(s.heads, -(-(s.width - own) // s.head))):
        rows = slice(head * s.head, (head + 1) * s.head)
        q, k, v = second.attn_q.weight, second.attn_k.weight, second.attn_v.weight
        for m in (q, k, v):
            m[rows] = 0
        for j in range(n):
            at, c = rows.start + still + j, (head * few // 2 + j // 2) % few
            if j % 2 == 0:
                q[at, own:] = mix[c] * size
                k[at, before[0].start + c] = size
            else:
                q[at, before[0].start + c] = size
                k[at, before[1].start + c] = size
        for j in range(min(s.head, s.width - own - head * s.head)):
            c = own + head * s.head + j
            v[rows.start + j, c] = 1
            second.attn_output.weight[c, rows.start + j] = 3
