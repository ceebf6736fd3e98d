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
from torch import multiprocessing

import muon
from model import Model, Shape, start

# What the tool says of a token, see tokens.go.
LEARNT, FIRST, KEY = 1 << 15, 1 << 14, 1 << 13
OPENING = FIRST | KEY
TOKEN = ANOTHER = KEY - 1

# What begins a value is what there is to learn, so it counts more, and so does
# what lies between a name and its value, after which a mask bears no mistake.
# Names of properties are only learnt where the schema is shown, so they count
# more there: not all schemas force them.
WEIGHTS = {FIRST: 1.5, OPENING: 1.5, KEY: 2.0, 0: 1.0}

# Of Adam, for tokens: about what gradients of rare ones amount to. With less,
# the little that says "not this one" at every place adds up for tokens that
# are hardly met, until they are not even copied.
EMBEDDING_EPS = 5e-5


def split(raw):
    """Cuts a stream of lessons, each its length and then its tokens."""
    out, at = [], 0
    while at < len(raw):
        n = int(raw[at])
        out.append(raw[at + 1 : at + 1 + n])
        at += 1 + n
    return out


def lessons(args, seed, n, unseen="", only="", more=()):
    """Has the tool write n lessons."""
    cmd = [args.tool, "tokens", "-vocab", args.vocab, "-seed", str(seed), "-n", str(n), "-unseen", unseen, "-only", only, *more]
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
    """What the model reads: tokens, the places to predict at, parts and
    places. And what is to be predicted, with what the tool says of it.

    The prompt is part 0, and each answer to it a part of its own. Lessons are
    filled up on the right; what comes after a lesson's end can't be seen from
    within it.
    """
    width = max(len(d) for d in batch) - 1
    ids, part, place = np.zeros((3, len(batch), width), dtype=np.int64)
    where, targets = [], []
    for i, d in enumerate(batch):
        other = d & TOKEN == ANOTHER
        asked = int(np.argmax((d & LEARNT > 0) | other))
        cuts = [asked - 1, *np.nonzero(other)[0], len(d)]
        ids[i, : len(d) - 1] = d[:-1] & TOKEN
        place[i, :asked] = np.arange(asked)
        at = np.nonzero(d[1:] & LEARNT)[0]
        for n, (a, b) in enumerate(zip(cuts, cuts[1:])):
            part[i, a + 1 : b] = n + 1
            place[i, a + 1 : b] = np.arange(asked, asked + min(b, width) - a - 1)
            if n:  # nobody can know that there is another
                at = at[at != a]
                part[i, a] = -1
        where.append(at + i * width)
        targets.append(d[1:][at].astype(np.int64))
    ids[ids == ANOTHER] = 0
    where, targets = np.concatenate(where), np.concatenate(targets)
    to = lambda a: torch.from_numpy(a).to(device)
    return (to(ids), to(where), to(part), to(place)), to(targets & TOKEN), to(targets & (FIRST | KEY))


def examine(model, docs, device):
    """How much greedy decoding gets right: first tokens of values, and whole
    values. Each is asked for after the right answers to those before it."""
    first = firsts = right = values = 0
    for batch in batches(docs, 2048, 0, 1024):
        read, targets, kinds = tensors(batch, device)
        with torch.no_grad():
            ok = (model(*read).argmax(-1) == targets).cpu().numpy()
        kinds, rows = kinds.cpu().numpy(), (read[1] // read[0].shape[1]).cpu().numpy()
        begins = kinds == FIRST
        first, firsts = first + int(ok[begins].sum()), firsts + int(begins.sum())
        # A value lasts until the next, its end included; names don't count.
        number = np.cumsum(begins) + np.cumsum(np.diff(rows, prepend=rows[0]) != 0)
        bad = {int(n) for n, good, kind in zip(number, ok, kinds) if not good and kind != KEY}
        all = {int(n) for n in number[begins]}
        right, values = right + len(all - bad), values + len(all)
    return dict(first=round(first / max(1, firsts), 4), values=round(right / max(1, values), 4))


class Shards:
    """Batches without end, made ahead by the tool while the model trains. Each
    process has shards of its own."""

    def __init__(self, args, rank, counts):
        self.args, self.rank, self.counts = args, rank, counts
        self.pool = concurrent.futures.ThreadPoolExecutor(args.ahead)
        self.made = {}
        self.now = []

    def make(self, n):
        a = self.args
        docs = lessons(a, a.seed + 1 + n * a.processes + self.rank, a.lessons, only=a.only, more=("-more", "-swap", str(a.swap)))
        return batches(docs, a.piece, n, a.longest)

    def next(self):
        while not self.now:
            n = int(self.counts[self.rank])
            for k in range(n, n + 1 + self.args.ahead):
                if k not in self.made:
                    self.made[k] = self.pool.submit(self.make, k)
            self.now = self.made.pop(n).result()
            self.counts[self.rank] += 1
        return self.now.pop()


class Trainer:
    """What all processes share: weights, gradients of each, states of the
    optimizers, and what the first tells the others. A step's batch is cut into
    pieces, and who has time takes the next, so that a busy core holds up the
    others little."""

    def __init__(self, args):
        self.args = args
        self.device = torch.device(args.device)
        if self.device.type != "cpu":
            args.processes = 1
        torch.set_num_threads(args.threads)
        torch.manual_seed(args.seed)
        size = int(subprocess.run([args.tool, "size", "-vocab", args.vocab], check=True, stdout=subprocess.PIPE).stdout)
        shape = Shape(size, args.width, args.layers, args.heads, args.ff)
        self.model = Model(shape)
        start(self.model)
        self.model.to(self.device)
        self.weights = dict(self.model.named_parameters())
        like = lambda: {k: torch.zeros_like(p) for k, p in self.weights.items()}
        self.grads = [like() for _ in range(args.processes)]
        self.momentum = like()
        self.square = torch.zeros_like(self.model.embedding)
        self.counts = torch.zeros(args.processes, dtype=torch.int64)  # shards begun
        self.sums = torch.zeros(args.processes, 5, dtype=torch.float64)  # weight, loss, of first tokens, their number, tokens
        self.rates = torch.zeros(2, dtype=torch.float64)
        self.flags = torch.zeros(4, dtype=torch.int64)  # pieces left, stop, examine, step
        self.step, self.seen = 0, 0
        self.folder = args.checkpoints
        os.makedirs(self.folder, exist_ok=True)
        last = os.path.join(self.folder, "last.pt")
        if os.path.exists(last):
            self.load(last)
        self.say(event="start", parameters=sum(p.numel() for p in self.weights.values()), shape=shape.__dict__, step=self.step, args=vars(args))

    def say(self, **what):
        what["time"] = time.strftime("%H:%M:%S")
        line = json.dumps(what)
        print(line, flush=True)
        with open(os.path.join(self.folder, "log.jsonl"), "a") as f:
            f.write(line + "\n")

    def save(self, name):
        path = os.path.join(self.folder, name)
        state = dict(
            model=self.model.state_dict(), momentum=self.momentum, square=self.square, shape=self.model.shape.__dict__,
            step=self.step, seen=self.seen, shard=int(self.counts.max()),
        )  # fmt: skip
        torch.save(state, path + ".part")
        os.replace(path + ".part", path)

    def load(self, path):
        state = torch.load(path, map_location=self.device)
        self.model.load_state_dict(state["model"])
        for k, m in self.momentum.items():
            m.copy_(state["momentum"][k])
        self.square.copy_(state["square"])
        self.counts.fill_(state["shard"])
        self.step, self.seen = state["step"], state["seen"]

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
        if a.processes > 1:
            for t in [*self.weights.values(), *self.momentum.values(), self.square, self.counts, self.sums, self.rates, self.flags]:
                t.share_memory_()
            for g in self.grads:
                for t in g.values():
                    t.share_memory_()
        fork = multiprocessing.get_context("fork")
        self.barrier, self.lock = fork.Barrier(a.processes), fork.Lock()
        others = [fork.Process(target=self.work, args=(rank,), daemon=True) for rank in range(1, a.processes)]
        for p in others:
            p.start()
        self.lead()
        for p in others:
            p.join()

    def meet(self):
        if self.args.processes > 1:
            self.barrier.wait(3600)

    def work(self, rank):
        """What every process does, as the first says."""
        if rank:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        shards = Shards(self.args, rank, self.counts)
        exams = self.exams()[rank :: self.args.processes]
        for k, p in self.weights.items():
            p.grad = self.grads[rank][k]
        while True:
            self.meet()
            if self.flags[1]:
                shards.pool.shutdown(cancel_futures=True)
                return
            if self.flags[2]:
                self.exam(exams)
            else:
                self.learn(rank, shards)
                self.meet()
                self.move(rank)
            self.meet()
            if rank == 0:
                self.after()

    def learn(self, rank, shards):
        """Adds up gradients."""
        for g in self.grads[rank].values():
            g.zero_()
        sums = self.sums[rank]
        sums.zero_()
        while True:
            with self.lock:
                left = int(self.flags[0])
                self.flags[0] = left - 1
            if left <= 0:
                return
            read, targets, kinds = tensors(shards.next(), self.device)
            weight = torch.empty(len(kinds), device=self.device)
            for kind, w in WEIGHTS.items():
                weight[kinds == kind] = w
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
                logits = self.model(*read)
            loss = F.cross_entropy(logits.float(), targets, reduction="none")
            # What the sum is divided by is the same for all pieces, about.
            (loss @ weight / (self.args.batch / 4)).backward()
            loss, first = loss.detach(), kinds == FIRST
            sums += torch.tensor([weight.sum(), loss @ weight, loss[first].sum(), first.sum(), read[0].numel()], dtype=torch.float64)

    @torch.no_grad()
    def move(self, rank):
        """Moves this process' part of the weights: matrices by Muon, tokens by Adam."""
        for i, (k, p) in enumerate(self.weights.items()):
            if i % self.args.processes != rank:
                continue
            g = self.grads[0][k]
            for other in self.grads[1:]:
                g += other[k]
            m = self.momentum[k]
            if k == "embedding":
                m.lerp_(g, 0.1)
                self.square.mul_(0.98).addcmul_(g, g, value=0.02)
                n = self.step + 1
                size = self.rates[1].item() / (1 - 0.9**n) * (1 - 0.98**n) ** 0.5
                p.addcdiv_(m, self.square.sqrt().add_(EMBEDDING_EPS), value=-size)
                continue
            parts = {"qkv": 3, "gate_up": 2}.get(k.rsplit(".", 1)[-1], 1)
            for w, h, n in zip(p.chunk(parts), g.chunk(parts), m.chunk(parts)):
                muon.step(w, h, n, self.rates[0].item())

    def exams(self):
        """Lessons never trained on, by task and by what is held out of them."""
        a = self.args
        out = []
        for task in (a.examine_tasks or a.only).split(","):
            for name, unseen in (("seen", "words"), ("unseen", "words,phrases,keys")):
                out.append((f"{task}/{name}", lessons(a, 1 << 40, a.exam, unseen, task)))
        return out

    def exam(self, exams):
        for name, docs in exams:
            self.say(step=int(self.flags[3]), exam=name, **examine(self.model, docs, self.device))

    def lead(self):
        """The first process: sets rates, notes, saves, ends."""
        a = self.args
        stop = []
        signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
        end = time.monotonic() + a.minutes * 60
        begun = saved = noted = time.monotonic()
        noted_sums = torch.zeros(5, dtype=torch.float64)

        def plan(examine=False):
            """Says what the next round is."""
            nonlocal end
            end += self.wait()
            left = end - time.monotonic()
            self.flags[2], self.flags[3] = examine, self.step
            self.flags[1] = int(not examine and (bool(stop) or left <= 0))
            self.flags[0] = a.batch // a.piece
            share = self.rate(left)
            self.rates[0], self.rates[1] = a.lr * share, a.embedding_lr * share
            return share, left

        share, left = plan()

        def after():
            nonlocal share, left, saved, noted, noted_sums
            if self.flags[2]:
                share, left = plan()
                noted = time.monotonic()
                return
            self.step += 1
            noted_sums += self.sums.sum(0)
            self.seen += int(self.sums[:, 4].sum())
            now = time.monotonic()
            if self.step % a.note == 0:
                weight, loss, first, firsts, tokens = noted_sums.tolist()
                self.say(step=self.step, loss=round(loss / weight, 4), first=round(first / firsts, 4), seen=self.seen, per_second=round(tokens / (now - noted)), rate=round(share, 3))
                noted_sums, noted = torch.zeros(5, dtype=torch.float64), now
            # Training goes on from before the rate fell, so that is kept.
            if now - saved > a.save * 60 or share == 1 and 0 < a.cool_down > left:
                self.save("last.pt" if share == 1 else "final.pt")
                saved = now
            over = stop or end - now <= 0
            share, left = plan(examine=self.step % a.examine == 0 or bool(over))

        self.after = after
        self.work(0)
        self.save("last.pt" if not a.cool_down or stop and share == 1 else "final.pt")
        self.say(event="end", step=self.step, seconds=round(time.monotonic() - begun))


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
    p.add_argument("--ff", type=int, default=384)
    p.add_argument("--lr", type=float, default=0.02)
    p.add_argument("--embedding-lr", type=float, default=0.005)
    p.add_argument("--warm-up", type=int, default=50, help="steps")
    p.add_argument("--batch", type=int, default=6144, help="tokens of a step")
    p.add_argument("--piece", type=int, default=1024, help="tokens computed at a time")
    p.add_argument("--longest", type=int, default=512, help="lesson, in tokens")
    p.add_argument("--lessons", type=int, default=3000, help="in a shard")
    p.add_argument("--only", default="", help="tasks to train on, with commas; default all")
    p.add_argument("--swap", type=float, default=0.5, help="share of lessons in which parts of words are exchanged for any others")
    p.add_argument("--examine-tasks", default="people,contacts,events,orders,tickets,sentiment")
    p.add_argument("--ahead", type=int, default=1, help="shards made ahead, at the same time")
    p.add_argument("--exam", type=int, default=60, help="lessons of each task")
    p.add_argument("--note", type=int, default=50, help="steps between notes of the loss")
    p.add_argument("--examine", type=int, default=500, help="steps between exams")
    p.add_argument("--save", type=float, default=5, help="minutes between checkpoints")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--processes", type=int, default=1, help="that share the work; for processors")
    p.add_argument("--threads", type=int, default=1, help="of each process")
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    p.add_argument("--pause-file", default="", help="training waits while this file is there")
    Trainer(p.parse_args()).run()


if __name__ == "__main__":
    sys.exit(main())
