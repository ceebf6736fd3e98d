"""The model: the llama architecture as llama.cpp computes it.

Written for speed on a processor without a library of fused kernels. Norms are
layer norms without weights: the same as llama's root mean square norm as long
as what they read has a mean of zero, which export.py sees to by taking the
mean from everything that is written into the residual stream. Weights of
norms would add nothing, for the matrices behind them can hold them.
"""

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
    ff: int = 512
    base: float = 1e7  # of the rotary frequencies
    eps: float = 1e-5
    gain: float = 0.1  # weight of the last norm

    @property
    def head(self):
        return self.width // self.heads


def rotary(shape, length, device):
    """For each place and pair of neighbours, the complex number that turns it."""
    step = shape.base ** (-torch.arange(0, shape.head, 2, device=device).float() / shape.head)
    angle = torch.outer(torch.arange(length, device=device).float(), step)
    return torch.polar(torch.ones_like(angle), angle)


def pairs(x):
    return torch.view_as_complex(x.unflatten(-1, (-1, 2)))


class Heads(torch.autograd.Function):
    """Takes queries, keys and values apart and turns the first two, pairs of
    neighbouring elements, which is llama.cpp's layout NORM. In: n, t, 3, heads,
    head. Out: 3, n, heads, t, head. Nothing is read or written twice."""

    @staticmethod
    def forward(ctx, x, turn):
        ctx.turn = turn
        n, t, _, heads, size = x.shape
        out = x.new_empty(3, n, heads, t, size)
        x = x.permute(2, 0, 3, 1, 4)
        torch.mul(pairs(x[:2]), turn, out=pairs(out[:2]))
        out[2].copy_(x[2])
        return out

    @staticmethod
    def backward(ctx, g):
        _, n, heads, t, size = g.shape
        out = g.new_empty(n, t, 3, heads, size)
        to = out.permute(2, 0, 3, 1, 4)
        torch.mul(pairs(g[:2]), ctx.turn.conj().resolve_conj(), out=pairs(to[:2]))
        to[2].copy_(g[2])
        return out, None


class Gated(torch.autograd.Function):
    """silu(gate)·up, of a row that holds first the one and then the other."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        gate, up = x.chunk(2, -1)
        return F.silu(gate).mul_(up)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        gate, up = x.chunk(2, -1)
        out = torch.empty_like(x)
        to_gate, to_up = out.chunk(2, -1)
        torch.mul(g, F.silu(gate), out=to_up)
        torch.ops.aten.silu_backward.grad_input(g * up, gate, grad_input=to_gate)
        return out


class Block(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s = s
        self.qkv = nn.Parameter(torch.empty(3 * s.width, s.width))
        self.output = nn.Parameter(torch.empty(s.width, s.width))
        self.gate_up = nn.Parameter(torch.empty(2 * s.ff, s.width))
        self.down = nn.Parameter(torch.empty(s.width, s.ff))

    def norm(self, x):
        return F.layer_norm(x, (self.s.width,), eps=self.s.eps)

    def forward(self, x, n, turn, mask, where=None):
        """x has a row for each token of n texts. With where, only those rows
        of the result are computed."""
        s, t = self.s, x.shape[0] // n
        h = F.linear(self.norm(x), self.qkv)
        q, k, v = Heads.apply(h.float().view(n, t, 3, s.heads, s.head), turn).view(3, n * s.heads, t, s.head).unbind(0)
        score = torch.baddbmm(mask, q, k.transpose(1, 2), alpha=1 / math.sqrt(s.head))
        y = torch.bmm(score.softmax(-1), v)
        y = y.view(n, s.heads, t, s.head).transpose(1, 2).reshape(n * t, s.width)
        if where is not None:
            x, y = x[where], y[where]
        x = torch.addmm(x, y, self.output.t())
        h = F.linear(self.norm(x), self.gate_up)
        return torch.addmm(x, Gated.apply(h), self.down.t())


class Model(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.embedding = nn.Parameter(torch.empty(shape.vocab, shape.width))
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))

    def forward(self, ids, where, part=None, place=None):
        """Logits at the places where, which index the flattened ids. Tokens
        see those before them that are of part 0 or of their own part, and take
        themselves to be at their place; without these, all, and in a row."""
        s, (n, t) = self.shape, ids.shape
        turn = rotary(s, t, ids.device)
        mask = torch.full((1, t, t), float("-inf"), device=ids.device).triu(1)
        if part is not None:
            turn = turn[place].unsqueeze(1)
            seen = (part.unsqueeze(1) == 0) | (part.unsqueeze(1) == part.unsqueeze(2))
            mask = mask.masked_fill(~seen, float("-inf")).repeat_interleave(s.heads, 0)
        x = F.embedding(ids.flatten(), self.embedding)
        for block in self.blocks[:-1]:
            x = block(x, n, turn, mask)
        x = self.blocks[-1](x, n, turn, mask, where)
        x = F.layer_norm(x, (s.width,), eps=s.eps) * s.gain
        return F.linear(x, self.embedding)


@torch.no_grad()
def start(model):
    """Sets the weights to begin with.

    Extraction is copying, and copying takes two layers that work together: a
    head that tells every token what stands before it, and later heads that
    look for the place where the present tokens stood before and read what
    followed there. Both take long to arise by chance and are simple to write
    down, so they are written down: the rest of the training starts with a
    model that continues whatever it has begun to repeat.
    """
    s = model.shape
    for block in model.blocks:
        for m in (block.qkv, block.gate_up):
            nn.init.normal_(m, std=s.width**-0.5)
        nn.init.zeros_(block.output)
        nn.init.zeros_(block.down)
    nn.init.normal_(model.embedding, std=1)
    # Coordinates of the residual stream: 4 that are the same for all tokens,
    # twice a few for the tokens that stood one and two places before, the rest
    # for the token itself.
    few = 32
    const, own = slice(0, 4), 4 + 2 * few
    before = [slice(4, 4 + few), slice(4 + few, own)]
    emb = model.embedding
    emb[:, const] = torch.tensor([1.0, -1.0, 1.0, -1.0])
    emb[:, 4:own] = 0
    step = s.base ** (-torch.arange(0, s.head, 2).float() / s.head)
    mix = torch.randn(few, s.width - own) * (s.width - own) ** -0.5

    # First layer: one head attends to the place before, one to that before it.
    # With the key turned by n places, the score at distance d is the sum of
    # weight·cos(frequency·(d-n)), which is largest at d = n. These weights,
    # found by trial, leave a fifth of it between n and all other distances.
    first = model.blocks[0]
    query, key, value = first.qkv.chunk(3)
    weight = torch.tensor([0.28, 0.27, 0.27, 0.08, 0.09])
    sign = emb[0, const]
    for head in range(2):
        rows = slice(head * s.head, (head + 1) * s.head)
        for m, turn in ((query, 0), (key, head + 1)):
            m[rows] = 0
            for f in range(len(weight)):
                size = (40 * s.head**0.5 * weight[f]).sqrt() / 4
                m[rows.start + 2 * f, const] = sign * size * torch.cos(step[f] * turn)
                m[rows.start + 2 * f + 1, const] = sign * size * torch.sin(step[f] * turn)
        value[rows] = 0
        value[rows.start : rows.start + few, own:] = mix
        first.output[before[head], rows.start : rows.start + few] = torch.eye(few)

    # Second layer, as many heads as cover the token's coordinates: the query
    # is the present token and the one before it, the key what stood before a
    # place, compared in the elements that hardly turn; the value is the token
    # at that place.
    second = model.blocks[1]
    query, key, value = second.qkv.chunk(3)
    still = int((step > 1e-3).sum()) * 2
    n = s.head - still
    size = (4.4 * (s.head / 64) ** 0.5) ** 0.5
    for head in range(min(s.heads, -(-(s.width - own) // s.head))):
        rows = slice(head * s.head, (head + 1) * s.head)
        for m in (query, key, value):
            m[rows] = 0
        for j in range(n):
            at, c = rows.start + still + j, (head * few // 2 + j // 2) % few
            if j % 2 == 0:
                query[at, own:] = mix[c] * size
                key[at, before[0].start + c] = size
            else:
                query[at, before[0].start + c] = size
                key[at, before[1].start + c] = size
        for j in range(min(s.head, s.width - own - head * s.head)):
            c = own + head * s.head + j
            value[rows.start + j, c] = 1
            second.output[c, rows.start + j] = 3
