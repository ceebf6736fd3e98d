"""Measures the masks of llguidance or XGrammar for bench/peers.

    python peer.py llguidance|xgrammar

Reads {"tokens": [base64], "special": [ids], "eos": id}, then a line {"schema": text, "documents": [[ids]]} for each schema, and
answers each with {"error"} or {"first_us", "documents": [{"us": [of each token taken], "complete"}]}. The time of a token is that
of its mask and of taking it.
"""

import base64
import json
import sys
import time
import types

import numpy

now = time.perf_counter_ns

# How Llama 3's tokenizer splits texts before it merges bytes.
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


class LLGuidance:
    def __init__(self, tokens, special, eos):
        import llguidance

        self.lib = llguidance

        import tiktoken
        from llguidance.tiktoken import lltokenizer_from_encoding

        # Where text is forced it allows only the tokens that the tokenizer makes of it, which is Llama 3's.
        specials = set(special)
        special_tokens = {tokens[i].decode(): i for i in special}
        encoding = tiktoken.Encoding(
            "llama3", pat_str=PATTERN, special_tokens=special_tokens,
            mergeable_ranks={t: i for i, t in enumerate(tokens) if i not in specials})
        self.tokenizer = lltokenizer_from_encoding(encoding, eos_token=eos, slices=llguidance.LLTokenizer.json_slices())

    def compile(self, schema):
        matcher = self.lib.LLMatcher(self.tokenizer, self.lib.LLMatcher.grammar_from_json_schema(schema), log_level=0)
        self.check(matcher)
        return matcher

    def check(self, matcher):
        if matcher.is_error():
            raise ValueError(matcher.get_error())

    def matcher(self, compiled):
        return compiled.deep_copy()

    def mask(self, matcher, mask):
        matcher.unsafe_compute_mask_ptr(mask.ctypes.data, mask.nbytes)

    def take(self, matcher, token):
        return matcher.consume_token(token)

    def complete(self, matcher, mask, eos):
        return matcher.is_accepting()


class XGrammar:
    def __init__(self, tokens, special, eos):
        import tvm_ffi  # noqa: F401, before the stand-ins: it would take them for the real ones

        # Its Python side has the types of these in signatures; masks on a CPU are filled into arrays of numpy.
        torch = types.ModuleType("torch")
        torch.int32, torch.Tensor, torch.tensor = "int32", object, lambda *_, **__: None
        torch.LongTensor = torch.FloatTensor = object
        transformers = types.ModuleType("transformers")
        transformers.PreTrainedTokenizerBase = transformers.PreTrainedTokenizerFast = transformers.LogitsProcessor = object
        sys.modules.update(torch=torch, transformers=transformers)
        import xgrammar

        self.lib = xgrammar
        info = xgrammar.TokenizerInfo(tokens, xgrammar.VocabType.RAW, stop_token_ids=[eos])
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def compile(self, schema):
        return self.compiler.compile_json_schema(schema, any_whitespace=True, strict_mode=False)

    def check(self, matcher):
        pass

    def matcher(self, compiled):
        return self.lib.GrammarMatcher(compiled)

    def mask(self, matcher, mask):
        # True: not every token is allowed. Else the mask is left as it is.
        if not matcher.fill_next_token_bitmask(mask):
            mask.fill(-1)

    def take(self, matcher, token):
        return matcher.accept_token(token)

    def complete(self, matcher, mask, eos):
        self.mask(matcher, mask)
        return has(mask, eos)


def has(mask, token):
    return bool(int(mask[0, token >> 5]) >> (token & 31) & 1)


def measure(peer, mask, eos, request):
    start = now()
    compiled = peer.compile(request["schema"])
    matcher = peer.matcher(compiled)
    peer.mask(matcher, mask)
    first = now() - start
    peer.check(matcher)
    documents = []
    for tokens in request["documents"]:
        matcher = peer.matcher(compiled)
        times = []
        for token in tokens:
            start = now()
            peer.mask(matcher, mask)
            masked = now() - start
            if not has(mask, token):
                break
            start = now()
            taken = peer.take(matcher, token)
            if not taken:
                break
            times.append((masked + now() - start) / 1000)
        complete = False
        if len(times) == len(tokens):
            complete = peer.complete(matcher, mask, eos)
        documents.append({"us": times, "complete": complete})
    return {"first_us": first / 1000, "documents": documents}


def main():
    setup = json.loads(sys.stdin.readline())
    tokens = [base64.b64decode(t) for t in setup["tokens"]]
    peer = {"llguidance": LLGuidance, "xgrammar": XGrammar}[sys.argv[1]](tokens, setup["special"], setup["eos"])
    mask = numpy.zeros((1, (len(tokens) + 31) // 32), dtype=numpy.int32)
    print(json.dumps({}), flush=True)
    for line in sys.stdin:
        try:
            answer = measure(peer, mask, setup["eos"], json.loads(line))
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {str(error)[:200]}"}
        print(json.dumps(answer), flush=True)


main()
