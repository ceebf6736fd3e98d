"""Writes a checkpoint's weights as a safetensors file, under GGUF's names."""

import json
import struct
import sys

import torch


def llama(state):
    """The weights as a llama model has them. Whatever is written into the
    residual stream loses its mean, so that root mean square norms do what
    layer norms did in training."""
    shape, weights = state["shape"], state["model"]
    embedding = weights["embedding"]
    out = {"token_embd.weight": embedding - embedding.mean(1, keepdim=True)}
    ones = torch.ones(shape["width"])
    for i in range(shape["layers"]):
        get = lambda name: weights[f"blocks.{i}.{name}"]
        q, k, v = get("qkv").chunk(3)
        gate, up = get("gate_up").chunk(2)
        output, down = (w - w.mean(0, keepdim=True) for w in (get("output"), get("down")))
        for name, t in dict(
            attn_norm=ones, attn_q=q, attn_k=k, attn_v=v, attn_output=output,
            ffn_norm=ones, ffn_gate=gate, ffn_up=up, ffn_down=down,
        ).items():  # fmt: skip
            out[f"blk.{i}.{name}.weight"] = t
    out["output_norm.weight"] = ones * shape["gain"]
    return out


def write(state, out):
    tensors = {name: t.float().contiguous() for name, t in llama(state).items()}
    header, at = {}, 0
    for name, t in tensors.items():
        size = 4 * t.numel()
        header[name] = dict(dtype="F32", shape=list(t.shape), data_offsets=[at, at + size])
        at += size
    shape = state["shape"]
    header["__metadata__"] = {k: repr(v) for k, v in dict(heads=shape["heads"], kv_heads=shape["heads"], eps=shape["eps"], base=shape["base"]).items()}
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
