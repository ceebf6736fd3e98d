// Package prefix says how prompts are split into batches, and how much of a computed one another prompt may reuse.
//
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
package prefix

import "github.com/stencil-json/stencil/backend"

// A Span is a part of some tokens, from the end of the span before it to its own, that was computed in one way.
type Span struct {
	End  int
	Kind Kind
}

// A Kind is the way in which the tokens of a span were computed.
type Kind uint8

// The kinds.
const (
	Blocks  Kind = iota // whole blocks from the start of the span
	Rest                // the remainder of a prompt after its blocks, in one batch
	Piece               // part of such a remainder
	Written             // computed while it was generated
)

// A History records how tokens were computed, in order. The last span may end before the last token.
type History []Span

// Add records that tokens up to end were computed.
func (h History) Add(end int, kind Kind) History {
	if n := len(h); n > 0 && h[n-1].Kind == kind && kind != Rest {
		h[n-1].End = end
		return h
	}
	return append(h, Span{end, kind})
}

// Cut removes what comes after n tokens.
func (h History) Cut(n int) History {
	for len(h) > 0 && h.begin(len(h)-1) >= n {
		h = h[:len(h)-1]
	}
	if i := len(h) - 1; i >= 0 && h[i].End > n {
		if h[i].End = n; h[i].Kind == Rest {
			h[i].Kind = Piece
		}
	}
	return h
}

func (h History) begin(i int) int {
	if i == 0 {
		return 0
	}
	return h[i-1].End
}

// Usable returns how many of the first n tokens a prompt can reuse.
func (c Cutting) Usable(h History, n int) int {
	for c.Grain > 1 && n > 0 {
		i := 0
		for i < len(h) && h[i].End < n {
			i++
		}
		if i == len(h) {
			return 0 // unknown
		}
		from := h.begin(i)
		switch h[i].Kind {
		case Written:
			return n
		case Blocks:
			at := min(from+(n-from)/c.Grain*c.Grain, c.Before(n))
			if at == n {
				return n
			}
			n = max(at, from)
		case Rest:
			if n == h[i].End && n == c.Mark {
				return n
			}
			n = from
		default:
			n = from
		}
	}
	return n
}

// A Cutting describes where a prompt is split.
type Cutting struct {
	Grain int // tokens of a block; 1 or less if splits don't matter
	Mark  int // where blocks are counted again; 0 if nowhere
}

// CuttingOf returns the cutting of a prompt of so many tokens. Its first mark is the
// end of the system prompt, which other prompts share.
func CuttingOf(grain, tokens int, marks []int) Cutting {
	c := Cutting{Grain: grain}
	if len(marks) > 0 && marks[0] >= grain && marks[0] < tokens {
		c.Mark = marks[0]
	}
	return c
}

// origin returns the position from which blocks are counted at a position.
func (c Cutting) origin(at int) int {
	if at >= c.Mark {
		return c.Mark
	}
	return 0
}

// Before returns the last split at or before a position.
func (c Cutting) Before(at int) int {
	if c.Grain <= 1 {
		return at
	}
	from := c.origin(at)
	return from + (at-from)/c.Grain*c.Grain
}

// Next returns how many tokens after a position go into a batch with the given room,
// if the prompt ends at end, and how they are computed.
func (c Cutting) Next(at, end, room int) (int, Kind) {
	if c.Grain <= 1 {
		return min(end-at, room), Written
	}
	if at < c.Mark {
		end = min(end, c.Mark)
	}
	from := c.origin(at)
	block := from + (end-from)/c.Grain*c.Grain // end of the last whole block
	n := end - at
	switch off := (at - from) % c.Grain; {
	case off == 0 && at < block && room >= c.Grain:
		return min(block-at, room/c.Grain*c.Grain), Blocks
	case off != 0: // after generated text
		n = min(n, c.Grain-off)
	}
	if n > room {
		return room, Piece
	}
	return n, Rest
}

// GrainOf returns the grain of a context that can rewind, else 1.
func GrainOf(ctx backend.Context) int {
	if g, ok := ctx.(backend.Grained); ok && ctx.Rewinds() {
		return g.Grain()
	}
	return 1
}
