package engine

import "github.com/stencil-json/stencil/backend"

// The numbers that a model computes for a token depend on company. In llama.cpp's
// kernels for CPUs (v0.5.0) the rows of a batch go through different code by fours,
// flash attention takes 64 rows at a time where it can, and sums run over the cells
// of the cache in groups counted from the first. On Qwen2.5-Coder-0.5B a logit
// differs by up to 0.3 between two ways to arrive at the same tokens: enough for
// another word.
//
// So that the same request gives the same text, a prompt is always cut in the same
// way: into blocks of [backend.Grained.Grain] tokens, counted from its beginning and
// anew from its first mark, and the rest by itself. What another request left is
// reused up to a place where this one would be cut too. A request that runs alone has
// its cells from the first one on. The text that a model wrote is reused as it is:
// to read it again would cost every turn of a conversation an answer's time.

// A span is a part of what a slot holds that was computed in one way.
type span struct {
	end  int
	kind spanKind
}

type spanKind uint8

const (
	blocks  spanKind = iota // whole blocks from the beginning of the span
	rest                    // a part of a prompt that is no block, in one batch
	piece                   // less than such a part
	written                 // as it was generated
)

// A history says how the tokens of a slot were computed, in order.
type history []span

// add says that tokens up to end were computed.
func (h history) add(end int, kind spanKind) history {
	if n := len(h); n > 0 && h[n-1].kind == kind && kind != rest {
		h[n-1].end = end
		return h
	}
	return append(h, span{end, kind})
}

// cut forgets what comes after n tokens.
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

// usable returns how many of the first n tokens another prompt may begin with.
func (c cutting) usable(h history, n int) int {
	for c.grain > 1 && n > 0 {
		i := 0
		for i < len(h) && h[i].end < n {
			i++
		}
		if i == len(h) {
			return 0 // nobody knows
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

// A cutting says where a prompt is cut.
type cutting struct {
	grain int // tokens of a block; 1 or less if it doesn't matter
	mark  int // where blocks are counted anew; 0 if nowhere
}

// cuttingOf returns where a request's prompt is cut. Its first mark is where the
// system's part ends, which other prompts have too.
func cuttingOf(grain int, req *Request) cutting {
	c := cutting{grain: grain}
	if len(req.Marks) > 0 && req.Marks[0] >= grain && req.Marks[0] < len(req.Prompt) {
		c.mark = req.Marks[0]
	}
	return c
}

// origin returns where the blocks are counted from at a position.
func (c cutting) origin(at int) int {
	if at >= c.mark {
		return c.mark
	}
	return 0
}

// before returns the last place at or before a position where the prompt is cut.
func (c cutting) before(at int) int {
	if c.grain <= 1 {
		return at
	}
	from := c.origin(at)
	return from + (at-from)/c.grain*c.grain
}

// next returns how many tokens from a position on go into one batch that has room
// for so many, if the prompt ends at end, and how they are computed then.
func (c cutting) next(at, end, room int) (int, spanKind) {
	if c.grain <= 1 {
		return min(end-at, room), written
	}
	if at < c.mark {
		end = min(end, c.mark)
	}
	from := c.origin(at)
	block := from + (end-from)/c.grain*c.grain // where the last whole one ends
	n := end - at
	switch off := (at - from) % c.grain; {
	case off == 0 && at < block && room >= c.grain:
		return min(block-at, room/c.grain*c.grain), blocks
	case off != 0: // after what was written
		n = min(n, c.grain-off)
	}
	if n > room {
		return room, piece
	}
	return n, rest
}

// grainOf returns the grain of a context whose sequences can be cut.
func grainOf(ctx backend.Context) int {
	if g, ok := ctx.(backend.Grained); ok && ctx.Rewinds() {
		return g.Grain()
	}
	return 1
}
