package decoder

import "slices"

// stepMode controls what a step does at a capture.
type stepMode struct {
	exact bool
	text  []byte // with exact: the text before the byte
	doubt bool   // out: the result is incomplete because a capture needs the text
	asked bool   // out: the result may depend on the text, so it must not be remembered
}

// step returns the configuration after byte b. A single stack whose top frame
// neither may end nor branches is a table look-up. Other results are remembered:
// for sets of stacks by row (setNext), because masks step them over many bytes; for
// single stacks in a small cache (stepped), because there are far more of them.
func (t *tables) step(c int32, b byte, mode *stepMode) int32 {
	if c&1 == 0 {
		s := c >> 1
		if s <= anyStack {
			return dead
		}
		f := t.stackFrame[s]
		fi := t.frame(f)
		if !fi.mayPop {
			switch code := t.lookup(f, fi, b); code & 3 {
			case codeNone:
				return dead
			case codeReplace:
				if g := code >> 2; g != f {
					s = t.push(g, t.stackParent[s])
				}
				return s << 1
			case codePop:
				return t.stackParent[s]
			}
		}
		if next, ok := t.stepped.find(c, b); ok {
			return next
		}
		sub := stepMode{exact: mode.exact, text: mode.text}
		t.begin()
		out := t.stepStack(s, b, &sub, t.scratch[:0])
		t.scratch = out
		next := t.config(out)
		mode.doubt, mode.asked = mode.doubt || sub.doubt, mode.asked || sub.asked
		if !sub.doubt && !sub.asked && t.err == nil {
			t.stepped.keep(c, b, next)
		}
		return next
	}
	set := c >> 1
	row := t.setRow[set]
	if row != 0 {
		if next := t.setNext.row(row - 1)[b]; next != 0 {
			return next - 2
		}
	}
	sub := stepMode{exact: mode.exact, text: mode.text}
	out := t.scratch[:0]
	t.begin()
	for _, s := range t.setItems[t.setOff[set]:t.setOff[set+1]] {
		out = t.stepStack(s, b, &sub, out)
	}
	t.scratch = out
	next := t.config(out)
	mode.doubt, mode.asked = mode.doubt || sub.doubt, mode.asked || sub.asked
	if !sub.doubt && !sub.asked {
		if row == 0 {
			id, _ := t.setNext.add()
			row = id + 1
			t.setRow[set] = row
		}
		t.setNext.row(row - 1)[b] = next + 2
	}
	return next
}

// begin starts a turn in which each stack is visited once: stacks share parents, so
// there may be exponentially many paths to one.
func (t *tables) begin() {
	if t.turn++; t.turn < 0 {
		clear(t.stackMark)
		t.turn = 1
	}
}

// meet reports whether s is visited for the first time in this turn.
func (t *tables) meet(s int32) bool {
	if n := len(t.stackFrame); len(t.stackMark) < n {
		marks := slices.Grow(t.stackMark, n-len(t.stackMark))
		t.stackMark = marks[:cap(marks)]
	}
	if t.stackMark[s] == t.turn {
		return false
	}
	t.stackMark[s] = t.turn
	return true
}

// stepStack appends the stacks that byte b leads to from stack s.
func (t *tables) stepStack(s int32, b byte, mode *stepMode, out []int32) []int32 {
	if s <= anyStack || !t.meet(s) {
		return out
	}
	t.meter.Step(1)
	if t.work++; t.work > t.limits.Stacks {
		t.fail(&LimitError{Limit: "stacks", Max: t.limits.Stacks})
		return out
	}
	f, parent := t.stackFrame[s], t.stackParent[s]
	fi := t.frame(f)
	mayPop := fi.mayPop
	out = t.apply(f, t.lookup(f, fi, b), parent, b, mode, out)
	if mayPop {
		for i, n := t.items(parent); n > 0; i, n = i+1, n-1 {
			out = t.stepStack(t.item(parent, i), b, mode, out)
		}
	}
	return out
}

func (t *tables) apply(f Frame, code, parent int32, b byte, mode *stepMode, out []int32) []int32 {
	switch code & 3 {
	case codeReplace:
		return append(out, t.push(code>>2, parent))
	case codePop:
		return t.appendStacks(out, parent)
	case codeGeneral:
		o := &t.outcomes[code>>2]
		mode.asked = mode.asked || o.capture
		if o.capture && mode.exact {
			return t.resolve(f, parent, b, mode, out)
		}
		if o.unknown {
			mode.doubt = true
		}
		for i := range o.alts {
			out = t.appendStacks(out, t.pushAll(o.alts[i].frames[:o.alts[i].n], parent))
		}
	}
	return out
}

// pushAll returns the configuration with frames on parent.
func (t *tables) pushAll(frames []Frame, parent int32) int32 {
	for _, f := range frames {
		parent = t.push(f, parent) << 1
	}
	return parent
}

// resolve steps over a capture, whose target the source derives from the text.
func (t *tables) resolve(f Frame, parent int32, b byte, mode *stepMode, out []int32) []int32 {
	var e Edges
	t.src.Resolve(f, b, mode.text, &e)
	for _, x := range e.list {
		if x.lo <= b && b <= x.hi && x.n >= 0 {
			out = t.appendStacks(out, t.pushAll(e.frames[x.off:x.off+int32(x.n)], parent))
		}
	}
	return out
}

// steps is a direct-mapped cache of steps from single stacks that are more than a
// look-up.
type steps struct {
	list []steppedTo
	kept int // number of steps kept since the table was made
}

type steppedTo struct {
	key  int64 // 0: none
	next int32
}

// The table is small at first, since most first masks need few steps. stepsBits is
// chosen so that it always fits into a processor's L1 cache.
const (
	stepsBits  = 9
	firstSteps = 32
)

func stepKey(c int32, b byte) (key int64, at uint32) {
	return int64(c)<<8 | int64(b), (uint32(c)*0x9E3779B1 ^ uint32(b)*0x85EBCA77) >> (32 - stepsBits)
}

// find returns the cached configuration after byte b.
func (s *steps) find(c int32, b byte) (next int32, ok bool) {
	if len(s.list) == 0 {
		return 0, false
	}
	key, at := stepKey(c, b)
	x := &s.list[at&uint32(len(s.list)-1)]
	return x.next, x.key == key
}

// keep caches the configuration after byte b.
func (s *steps) keep(c int32, b byte, next int32) {
	if s.kept >= len(s.list) && len(s.list) < 1<<stepsBits {
		old := s.list
		s.list, s.kept = make([]steppedTo, min(max(firstSteps, 4*len(old)), 1<<stepsBits)), 0
		for _, x := range old {
			if x.key != 0 {
				s.keep(int32(x.key>>8), byte(x.key), x.next)
			}
		}
	}
	key, at := stepKey(c, b)
	s.list[at&uint32(len(s.list)-1)] = steppedTo{key, next}
	s.kept++
}
