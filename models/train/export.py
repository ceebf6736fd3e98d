"""Writes a checkpoint's weights as a safetensors file, under GGUF's names."""

import json
import struct
import sys

import torch


def write(state, out):
    tensors = {name: t.float().contiguous() for name, t in state["model"].items()}
    header, at = {}, 0
    for name, t in tensors.items():
        size = 4 * t.numel()
        header[name] = dict(dtype="F32", shape=list(t.shape), data_offsets=[at, at + size])
        at += size
    header["__metadata__"] = {k: repr(state["shape"][k]) for k in ("heads", "kv_heads", "eps", "base")}
    head = json.dumps(header).encode()
    with open(out, "wb") as f:
        f.write(struct.pack("<Q", len(head)) + head)
        for t in tensors.values():
            f.write(t.cpu().numpy().astype("<f4").tobytes())


if __name__ == "__main__":
    checkpoint, out = sys.argv[1:]
    state = torch.load(checkpoint, map_location="cpu")
    write(state, out)
    print(f"{out}: step {state['step']}, {state['seen']} tokens seen")
