"""Muon: momentum whose direction is made orthogonal (Jordan et al. 2024)."""

import torch

# For each step of Newton and Schulz, a polynomial that brings singular values
# closer to 1 (Amsel et al. 2025, "The Polar Express").
STEPS = [
    (8.28721201814563, -23.595886519098837, 17.300387312530933),
    (4.107059111542203, -2.9478499167379106, 0.5448431082926601),
    (3.9486908534822946, -2.908902115962949, 0.5518191394370137),
    (3.3184196573706015, -2.488488024314874, 0.51004894012372),
]


def orthogonal(g, steps=4):
    """About the nearest matrix whose singular values are all the same."""
    x = g / (g.norm() * 1.01 + 1e-7)
    turned = x.size(0) > x.size(1)
    if turned:
        x = x.t()
    for a, b, c in STEPS[:steps]:
        s = x @ x.t()
        s = torch.addmm(s, s, s, beta=b, alpha=c)
        x = torch.addmm(x, s, x, beta=a)
    return x.t() if turned else x


@torch.no_grad()
def step(weight, grad, momentum, rate, keep=0.95):
    """Moves one matrix."""
    momentum.lerp_(grad, 1 - keep)
    turn = orthogonal(grad.lerp(momentum, keep))
    weight.add_(turn, alpha=-rate * max(1, weight.shape[0] / weight.shape[1]) ** 0.5)
