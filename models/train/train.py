"""Trains the bundled model. See ../README.md, and --help."""

import argparse
import concurrent.futures
import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

from model import Model, Shape, start
from muon import Muon

LEARNT = 1 << 15  # marks a token that is to be predicted


def split(raw):
    """Cuts a stream of lessons, each its length and then its tokens."""
    out, at = [], 0
    while at < len(raw):
        n = int(raw[at])
        out.append(raw[at + 1 : at + 1 + n])
        at += 1 + n
    return out


def lessons(tool, vocab, seed, n, unseen="", only=""):
    """Has the tool write n lessons."""
    cmd = [tool, "tokens", "-vocab", vocab, "-seed", str(seed), "-n", str(n), "-unseen", unseen, "-only", only]
    return split(np.frombuffer(subprocess.run(cmd, check=True, stdout=subprocess.PIPE).stdout, dtype="<u2"))


def batches(docs, size, seed, longest):
    """Puts lessons of like length together, about size tokens at a time."""
    docs = sorted((d for d in docs if len(d) <= longest), key=len)
    out, batch = [], []
    for d in docs:
        if batch and (len(batch) + 1) * len(d) > size:
            out.append(batch)
            batch = []
        batch.append(d)
    out.append(batch)
    random.Random(seed).shuffle(out)
    return out


def tensors(batch, device):
    """Tokens, the places to predict at, and what is to be predicted there.

    Lessons are filled up on the right; what comes after a lesson's end can't
    be seen from within it.
    """
    width = max(len(d) for d in batch) - 1
    ids = np.zeros((len(batch), width), dtype=np.int64)
    where, targets = [], []
    for i, d in enumerate(batch):
        ids[i, : len(d) - 1] = d[:-1] & (LEARNT - 1)
        at = np.nonzero(d[1:] & LEARNT)[0]
        where.append(at + i * width)
        targets.append(d[1:][at].astype(np.int64) & (LEARNT - 1))
    to = lambda a: torch.from_numpy(a).to(device)
    return to(ids), to(np.concatenate(where)), to(np.concatenate(targets))


@torch.no_grad()
def examine(model, docs, device):
    """Loss, share of tokens, and share of whole answers that greedy decoding gets right."""
    model.eval()
    loss = right = total = whole = count = 0
    for batch in batches(docs, 4096, 0, 1024):
        ids, where, targets = tensors(batch, device)
        logits = model(ids, where)
        loss += F.cross_entropy(logits, targets, reduction="sum").item()
        ok = (logits.argmax(-1) == targets).cpu()
        right, total = right + int(ok.sum()), total + len(ok)
        row = (where // ids.shape[1]).cpu()
        bad = set(row[~ok].tolist())
        whole, count = whole + len(batch) - len(bad), count + len(batch)
    model.train()
    return dict(loss=loss / total, tokens=right / total, answers=whole / count)


class Shards:
    """Shards of batches, made ahead by the tool while the model trains."""

    def __init__(self, args, first):
        self.args = args
        self.pool = concurrent.futures.ThreadPoolExecutor(args.workers)
        self.next = first
        self.made = {}

    def make(self, n):
        a = self.args
        docs = lessons(a.tool, a.vocab, a.seed + 1 + n, a.lessons, only=a.only)
        return batches(docs, a.batch, n, a.longest)

    def take(self):
        for n in range(self.next, self.next + 1 + self.args.workers):
            if n not in self.made:
                self.made[n] = self.pool.submit(self.make, n)
        self.next += 1
        return self.made.pop(self.next - 1).result()


class Trainer:
    def __init__(self, args):
        self.args = args
        self.device = torch.device(args.device)
        torch.set_num_threads(args.threads)
        torch.manual_seed(args.seed)
        size = int(subprocess.run([args.tool, "size", "-vocab", args.vocab], check=True, stdout=subprocess.PIPE).stdout)
        shape = Shape(size, args.width, args.layers, args.heads, args.kv_heads or args.heads, args.ff)
        self.model = Model(shape)
        start(self.model, not args.plain_start)
        self.model.to(self.device)
        blocks = [p for p in self.model.blk.parameters() if p.ndim == 2]
        others = [p for p in self.model.parameters() if not any(p is b for b in blocks)]
        self.opts = [
            Muon(blocks, lr=args.lr),
            torch.optim.Adam(others, lr=args.embedding_lr, betas=(0.9, 0.98), eps=1e-10),
        ]
        self.rates = [args.lr, args.embedding_lr]
        self.step, self.shard, self.at, self.seen = 0, 0, 0, 0
        self.folder = args.checkpoints
        os.makedirs(self.folder, exist_ok=True)
        last = os.path.join(self.folder, "last.pt")
        if os.path.exists(last):
            self.load(last)
        n = sum(p.numel() for p in self.model.parameters())
        self.say(event="start", parameters=n, shape=shape.__dict__, step=self.step)

    def say(self, **what):
        what["time"] = time.strftime("%H:%M:%S")
        line = json.dumps(what)
        print(line, flush=True)
        with open(os.path.join(self.folder, "log.jsonl"), "a") as f:
            f.write(line + "\n")

    def save(self, name="last.pt"):
        path = os.path.join(self.folder, name)
        state = dict(
            model=self.model.state_dict(), opts=[o.state_dict() for o in self.opts], shape=self.model.shape.__dict__,
            step=self.step, shard=self.shard, at=self.at, seen=self.seen,
        )  # fmt: skip
        torch.save(state, path + ".part")
        os.replace(path + ".part", path)

    def load(self, path):
        state = torch.load(path, map_location=self.device)
        self.model.load_state_dict(state["model"])
        for o, s in zip(self.opts, state["opts"]):
            o.load_state_dict(s)
        self.step, self.shard, self.at, self.seen = state["step"], state["shard"], state["at"], state["seen"]

    def wait(self):
        """Stands still while the pause file is there, and says how long."""
        since = time.monotonic()
        while self.args.pause_file and os.path.exists(self.args.pause_file):
            time.sleep(1)
        return time.monotonic() - since

    def rate(self, left):
        """The share of the learning rate: a short rise, a level, and with
        --cool-down a fall over the last part of the time."""
        share = min(1, (self.step + 1) / self.args.warm_up)
        if self.args.cool_down:
            share *= min(1, max(0, left) / self.args.cool_down)
        return share

    def run(self):
        a = self.args
        exams = {
            "seen": lessons(a.tool, a.vocab, 1 << 40, a.exam, "words", a.only),
            "unseen": lessons(a.tool, a.vocab, 1 << 40, a.exam, "words,phrases,keys", a.only),
        }
        end = time.monotonic() + a.minutes * 60
        saved = noted = time.monotonic()
        loss_sum = loss_count = tokens = share = 0
        stop = []
        signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
        shards = Shards(a, self.shard)
        while not stop and time.monotonic() < end:
            for batch in shards.take()[self.at :]:
                end += self.wait()
                now = time.monotonic()
                if stop or now >= end:
                    break
                share = self.rate(end - now)
                for o, r in zip(self.opts, self.rates):
                    for group in o.param_groups:
                        group["lr"] = r * share
                ids, where, targets = tensors(batch, self.device)
                with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
                    loss = F.cross_entropy(self.model(ids, where).float(), targets)
                loss.backward()
                for o in self.opts:
                    o.step()
                    o.zero_grad(set_to_none=True)
                self.step, self.at = self.step + 1, self.at + 1
                loss_sum, loss_count = loss_sum + loss.item(), loss_count + 1
                n = sum(len(d) for d in batch)
                tokens, self.seen = tokens + n, self.seen + n
                if self.step % a.note == 0:
                    now = time.monotonic()
                    self.say(step=self.step, loss=round(loss_sum / loss_count, 4), seen=self.seen, per_second=round(tokens / (now - noted)), rate=round(share, 3))
                    loss_sum = loss_count = tokens = 0
                    noted = now
                if self.step % a.examine == 0:
                    self.exam(exams)
                    noted = time.monotonic()
                now = time.monotonic()
                # Training goes on from before the rate fell, so that is kept.
                if share == 1 and (now - saved > a.save * 60 or 0 < a.cool_down > end - now):
                    self.save()
                    saved = now
            else:
                self.shard, self.at = self.shard + 1, 0
        self.exam(exams)
        if not a.cool_down or stop and share == 1:
            self.save()
        elif not stop:
            self.save("final.pt")
        shards.pool.shutdown(cancel_futures=True)
        self.say(event="end", step=self.step)

    def exam(self, exams):
        for name, docs in exams.items():
            found = examine(self.model, docs, self.device)
            self.say(step=self.step, exam=name, **{k: round(v, 4) for k, v in found.items()})


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--tool", required=True, help="the program of this folder, built")
    p.add_argument("--vocab", required=True, help="GGUF file of the vocabulary")
    p.add_argument("--checkpoints", required=True, help="folder; training goes on from last.pt there")
    p.add_argument("--minutes", type=float, default=60)
    p.add_argument("--cool-down", type=float, default=0, help="seconds at the end in which the learning rate falls to 0; the result is final.pt")
    p.add_argument("--width", type=int, default=192)
    p.add_argument("--layers", type=int, default=6)
    p.add_argument("--heads", type=int, default=3)
    p.add_argument("--kv-heads", type=int, default=0)
    p.add_argument("--ff", type=int, default=512)
    p.add_argument("--lr", type=float, default=0.02)
    p.add_argument("--embedding-lr", type=float, default=0.01)
    p.add_argument("--warm-up", type=int, default=50, help="steps")
    p.add_argument("--batch", type=int, default=4096, help="tokens")
    p.add_argument("--longest", type=int, default=512, help="lesson, in tokens")
    p.add_argument("--lessons", type=int, default=4000, help="in a shard")
    p.add_argument("--only", default="", help="tasks to train on, with commas; default all")
    p.add_argument("--workers", type=int, default=1, help="shards made ahead, at the same time")
    p.add_argument("--exam", type=int, default=300, help="lessons")
    p.add_argument("--note", type=int, default=25, help="steps between notes of the loss")
    p.add_argument("--examine", type=int, default=200, help="steps between exams")
    p.add_argument("--save", type=float, default=10, help="minutes between checkpoints")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    p.add_argument("--pause-file", default="", help="training waits while this file is there")
    p.add_argument("--plain-start", action="store_true", help="begin with random weights alone")
    Trainer(p.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
