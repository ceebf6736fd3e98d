"""Makes a small model of random weights and says what its logits are, so that
a test can see whether llama.cpp computes the same. Arguments: the size of the
vocabulary, the file for the weights, tokens. Prints a row of logits a token."""

import sys

import torch

import export
from model import Model, Shape, start

size, out, ids = int(sys.argv[1]), sys.argv[2], [int(a) for a in sys.argv[3:]]
torch.manual_seed(0)
torch.set_num_threads(1)
model = Model(Shape(size, width=192, layers=3, heads=6, ff=160))
start(model)
with torch.no_grad():
    for p in model.parameters():  # so that no part of it is zero
        p.add_(torch.randn_like(p), alpha=0.05)
    export.write(dict(model=model.state_dict(), shape=model.shape.__dict__), out)
    for row in model(torch.tensor([ids]), torch.arange(len(ids))):
        print(*row.tolist())
