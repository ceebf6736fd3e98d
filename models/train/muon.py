"""Muon: momentum whose direction is made orthogonal (Jordan et al. 2024)."""

import torch


def orthogonal(g, steps=5):
    """The nearest matrix with singular values near 1, by Newton and Schulz."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g / (g.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    turned = x.size(-2) > x.size(-1)
    if turned:
        x = x.transpose(-2, -1)
    for _ in range(steps):
        s = x @ x.transpose(-2, -1)
        x = a * x + (b * s + c * s @ s) @ x
    return x.transpose(-2, -1) if turned else x


class Muon(torch.optim.Optimizer):
    """For matrices. All of one shape are handled together."""

    def __init__(self, params, lr=0.02, momentum=0.95):
        super().__init__(params, dict(lr=lr, momentum=momentum))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            shapes = {}
            for p in group["params"]:
                if p.grad is not None:
                    shapes.setdefault(p.shape, []).append(p)
            for shape, params in shapes.items():
                moved = []
                for p in params:
                    m = self.state[p].setdefault("momentum", torch.zeros_like(p))
                    m.lerp_(p.grad, 1 - group["momentum"])
                    moved.append(p.grad.lerp(m, group["momentum"]))
                turn = orthogonal(torch.stack(moved))
                size = group["lr"] * max(1, shape[0] / shape[1]) ** 0.5
                for p, t in zip(params, turn):
                    p.add_(t, alpha=-size)
