package gbnf

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/stencil-json/stencil/meter"
	"github.com/stencil-json/stencil/regular"
)

// compiler translates a syntax tree into a program. It writes each rule from
// its end to its start, so that every instruction knows its successor.
type compiler struct {
	file    *file
	limits  Limits
	meter   *meter.Meter
	p       *program
	inline  []bool // of rules: copied where they are used
	classes map[string]int32
	known   map[*expr]int32  // classes of sets that have been emitted: a rule that is copied often may have a long one
	tokens  map[string]int32 // number of each reference to a token
	from    int32
	host    int32
	// asText returns the replacement of a reference to a token; nil: the
	// reference is a character of its own.
	asText func(*expr) *expr
}

// compile compiles a grammar that has been checked. With asText, references to
// tokens are replaced by its results.
func compile(f *file, limits Limits, asText func(*expr) *expr, work *meter.Meter) (p *program, err error) {
	c := &compiler{
		file: f, limits: limits, meter: work, inline: small(f), classes: map[string]int32{}, known: map[*expr]int32{}, tokens: map[string]int32{}, asText: asText,
		p: &program{names: make([]string, len(f.rules)), start: make([]int32, len(f.rules)), root: f.index[rootRule]},
	}
	defer func() {
		if r := recover(); r != nil {
			s, ok := r.(stop)
			if !ok {
				panic(r)
			}
			p, err = nil, s.err
		}
	}()
	for i, r := range f.rules {
		c.p.names[i] = r.name
		c.from, c.host = int32(i), int32(i)
		end := c.add(inst{op: instEnd, arg: int32(i)})
		c.p.start[i] = c.emit(r.body, end)
	}
	c.p.findCosts(work)
	return c.p, nil
}

// inlineSize is the number of elements up to which a rule is copied to where it
// is used. Rules such as ws, digit and letter are used everywhere, and a copy
// saves the decoder a call.
const inlineSize = 48

// small returns the rules to copy: those that use only such rules.
func small(f *file) []bool {
	size := make([]int, len(f.rules))
	waiting := make([]int, len(f.rules)) // references to rules whose size is unknown
	users := make([][]int32, len(f.rules))
	var ready []int32
	for i, r := range f.rules {
		r.body.walk(func(e *expr) {
			size[i]++
			switch e.op {
			case opLiteral:
				size[i] += len(e.text)
			case opRef:
				to := f.index[e.text]
				users[to] = append(users[to], int32(i))
				waiting[i]++
			}
		})
		if waiting[i] == 0 {
			ready = append(ready, int32(i))
		}
	}
	inline := make([]bool, len(f.rules))
	for len(ready) > 0 {
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		if size[i] > inlineSize {
			continue // and so are all rules that use it
		}
		inline[i] = true
		for _, u := range users[i] {
			size[u] += size[i]
			if waiting[u]--; waiting[u] == 0 {
				ready = append(ready, u)
			}
		}
	}
	return inline
}

func (c *compiler) add(in inst) int32 {
	if len(c.p.insts) >= 4*c.limits.Elements {
		panic(stop{&LimitError{Limit: "Elements", Max: c.limits.Elements}})
	}
	in.from, in.host = c.from, c.host
	c.p.insts = append(c.p.insts, in)
	return int32(len(c.p.insts) - 1)
}

// emit writes the instructions for e, followed by next, and returns the first.
func (c *compiler) emit(e *expr, next int32) int32 {
	c.meter.Step(1)
	switch e.op {
	case opLiteral:
		return c.text(e.text, next)
	case opToken:
		if c.asText != nil {
			return c.emit(c.asText(e), next)
		}
		r := c.token(e)
		return c.char([]regular.Range{{Lo: r, Hi: r}}, next)
	case opClass:
		id, ok := c.known[e]
		if !ok {
			id = c.class(normal(e.ranges, e.negated))
			c.known[e] = id
		}
		return c.add(inst{op: instChar, arg: id, next: next})
	case opAny:
		return c.char(anyChar, next)
	case opRef:
		to := c.file.index[e.text]
		if !c.inline[to] {
			return c.add(inst{op: instCall, arg: to, next: next})
		}
		from := c.from
		c.from = to
		first := c.emit(c.file.rules[to].body, next)
		c.from = from
		return first
	case opSequence:
		for i := len(e.sub) - 1; i >= 0; i-- {
			next = c.emit(e.sub[i], next)
		}
		return next
	case opChoice:
		targets := make([]int32, len(e.sub))
		for i, s := range e.sub {
			targets[i] = c.emit(s, next)
		}
		return c.alt(targets)
	default:
		return c.repeat(e, next)
	}
}

func (c *compiler) text(text string, next int32) int32 {
	for len(text) > 0 {
		r, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
		next = c.char([]regular.Range{{Lo: r, Hi: r}}, next)
	}
	return next
}

// char writes the instruction that reads a character of a normalised class.
func (c *compiler) char(ranges []regular.Range, next int32) int32 {
	return c.add(inst{op: instChar, arg: c.class(ranges), next: next})
}

// class returns the number of a normalised class.
func (c *compiler) class(ranges []regular.Range) int32 {
	c.meter.Step(1 + len(ranges)/16)
	key := make([]byte, 0, 16)
	for _, r := range ranges {
		key = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(key, uint32(r.Lo)), uint32(r.Hi))
	}
	id, ok := c.classes[string(key)]
	if !ok {
		id = int32(len(c.p.classes))
		c.p.classes = append(c.p.classes, ranges)
		c.classes[string(key)] = id
	}
	return id
}

func (c *compiler) alt(targets []int32) int32 {
	c.p.alts = append(c.p.alts, targets)
	return c.add(inst{op: instAlt, arg: int32(len(c.p.alts) - 1)})
}

func (c *compiler) repeat(e *expr, next int32) int32 {
	body := e.sub[0]
	switch {
	case e.max == 0:
		return next
	case e.min == 1 && e.max == 1:
		return c.emit(body, next)
	case e.min == 0 && e.max == 1:
		return c.alt([]int32{c.emit(body, next), next})
	case e.min <= 1 && e.max == unbounded:
		back := c.alt(nil)
		first := c.emit(body, back)
		c.p.alts[c.p.insts[back].arg] = []int32{first, next}
		if e.min == 1 {
			return first
		}
		return back
	}
	id := int32(len(c.p.loops))
	c.p.loops = append(c.p.loops, loop{min: e.min, max: e.max, exit: next})
	again := c.add(inst{op: instAgain, arg: id})
	first := c.emit(body, again)
	c.p.loops[id].body = first
	return c.add(inst{op: instEnter, arg: id})
}
