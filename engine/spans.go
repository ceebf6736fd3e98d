package engine

import "github.com/stencil-json/stencil/backend"

// The numbers that a model computes for a token depend on the tokens computed with
// it. In llama.cpp's CPU kernels (v0.5.0) the rows of a batch go through different
// code by fours, flash attention takes 64 rows at a time where it can, and sums run
// over the KV cells in groups counted from the first. On Qwen2.5-Coder-0.5B a logit
// differs by up to 0.3 between two ways to compute the same tokens, enough for a
// different word.
//
// So that the same request gives the same text, a prompt is always split in the same
// way: into blocks of [backend.Grained.Grain] tokens, counted from its start and
// again from its first mark, and a remainder. What another request left is reused up
// to a position where this prompt would be split too. The cells of a request that
// runs alone start at the first one. Generated text is reused as computed: prefilling
// it again would cost every turn of a conversation the time of an answer.

// A span is a part of a slot's tokens that was computed in one way.
type span struct {
	end  int
	kind spanKind
}

type spanKind uint8

const (
	blocks  spanKind = iota // whole blocks from the start of the span
	rest                    // the remainder of a prompt after its blocks, in one batch
	piece                   // part of such a remainder
	written                 // computed while it was generated
)

// A history records how the tokens of a slot were computed, in order.
type history []span

// add records that tokens up to end were computed.
func (h history) add(end int, kind spanKind) history {
	if n := len(h); n > 0 && h[n-1].kind == kind && kind != rest {
		h[n-1].end = end
		return h
	}
	return append(h, span{end, kind})
}

// cut removes what comes after n tokens.
func (h history) cut(n int) history {
	for len(h) > 0 && h.begin(len(h)-1) >= n {
		h = h[:len(h)-1]
	}
	if i := len(h) - 1; i >= 0 && h[i].end > n {
		if h[i].end = n; h[i].kind == rest {
			h[i].kind = piece
		}
	}
	return h
}

func (h history) begin(i int) int {
	if i == 0 {
		return 0
	}
	return h[i-1].end
}

// usable returns how many of the first n tokens a prompt can reuse.
func (c cutting) usable(h history, n int) int {
	for c.grain > 1 && n > 0 {
		i := 0
		for i < len(h) && h[i].end < n {
			i++
		}
		if i == len(h) {
			return 0 // unknown
		}
		from := h.begin(i)
		switch h[i].kind {
		case written:
			return n
		case blocks:
			at := min(from+(n-from)/c.grain*c.grain, c.before(n))
			if at == n {
				return n
			}
			n = max(at, from)
		case rest:
			if n == h[i].end && n == c.mark {
				return n
			}
			n = from
		default:
			n = from
		}
	}
	return n
}

// A cutting describes where a prompt is split.
type cutting struct {
	grain int // tokens of a block; 1 or less if splits don't matter
	mark  int // where blocks are counted again; 0 if nowhere
}

// cuttingOf returns the cutting of a request's prompt. Its first mark is the end of
// the system prompt, which other prompts share.
func cuttingOf(grain int, req *Request) cutting {
	c := cutting{grain: grain}
	if len(req.Marks) > 0 && req.Marks[0] >= grain && req.Marks[0] < len(req.Prompt) {
		c.mark = req.Marks[0]
	}
	return c
}

// origin returns the position from which blocks are counted at a position.
func (c cutting) origin(at int) int {
	if at >= c.mark {
		return c.mark
	}
	return 0
}

// before returns the last split at or before a position.
func (c cutting) before(at int) int {
	if c.grain <= 1 {
		return at
	}
	from := c.origin(at)
	return from + (at-from)/c.grain*c.grain
}

// next returns how many tokens after a position go into a batch with the given room,
// if the prompt ends at end, and how they are computed.
func (c cutting) next(at, end, room int) (int, spanKind) {
	if c.grain <= 1 {
		return min(end-at, room), written
	}
	if at < c.mark {
		end = min(end, c.mark)
	}
	from := c.origin(at)
	block := from + (end-from)/c.grain*c.grain // end of the last whole block
	n := end - at
	switch off := (at - from) % c.grain; {
	case off == 0 && at < block && room >= c.grain:
		return min(block-at, room/c.grain*c.grain), blocks
	case off != 0: // after generated text
		n = min(n, c.grain-off)
	}
	if n > room {
		return room, piece
	}
	return n, rest
}

// grainOf returns the grain of a context that can rewind, else 1.
func grainOf(ctx backend.Context) int {
	if g, ok := ctx.(backend.Grained); ok && ctx.Rewinds() {
		return g.Grain()
	}
	return 1
}
