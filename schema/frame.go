package schema

import (
	"fmt"
	"strings"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/schema/layout"
	"github.com/stencil-json/stencil/schema/logic"
	"github.com/stencil-json/stencil/schema/number"
	"github.com/stencil-json/stencil/schema/syntax"
	"github.com/stencil-json/stencil/schema/tokens"
)

// frameKind is the kind of a frame's position in a document.
type frameKind uint8

const (
	frameRoot     frameKind = iota // before the document; a: goal
	frameEnd                       // after the document
	frameValue                     // before a value; a: goal
	frameText                      // inside fixed text; a: text, b: bytes read
	frameString                    // inside a string; a: machine, b: its state, c: sub
	frameNumber                    // inside a number; a: automaton, b: its state
	frameArrOpen                   // after [; a: state
	frameArrAfter                  // after an item; a: state
	frameArrItem                   // after an item that is compared with the others; a: state without it
	frameObjOpen                   // after {; a: state
	frameObjKey                    // inside a key; a: state, b: key state, c: sub
	frameColon                     // after a key, above the frame of its value; a: text
	frameObjAfter                  // after a member; a: state
	frameObjComma                  // before a key; a: state
	frameIndent                    // in the first indentation; a: state, b: spaces read or -1 after a tab, c: 1 in an array
)

// A frameKey identifies a frame; frameKind defines a, b and c.
type frameKey struct {
	kind    frameKind
	blank   int16 // whitespace that may still come
	at      layout.Place
	a, b, c int32
}

// frameTable numbers frames.
type frameTable struct {
	*base
	logic.Interned[frameKey]
	texts []string
	texti logic.Memo[string, int32]
}

func newFrameTable(b *base) *frameTable {
	return &frameTable{base: b, Interned: logic.Interned[frameKey]{}}
}

func (k *frameKey) hash() uint32 {
	return logic.Mix(uint64(k.kind)<<48|uint64(uint16(k.blank))<<32|uint64(k.at.Bits()), logic.Pair(k.a, k.b), uint64(uint32(k.c)))
}

func (t *frameTable) text(s string) int32 {
	if i, ok := t.texti[s]; ok {
		return i
	}
	i := int32(len(t.texts))
	t.texts = append(t.texts, s)
	t.texti.Put(s, i)
	return i
}

// frame returns the number of the frame k.
func (ft *frameTable) frame(k frameKey) decoder.Frame {
	h := k.hash()
	f, at := ft.Find(&k, h)
	if f >= 0 {
		return f
	}
	if len(ft.Keys) >= ft.opt.Limits.States {
		ft.limit("states", ft.opt.Limits.States)
	}
	return ft.Add(&k, h, at)
}

// Start implements [decoder.Source].
func (s *source) Start() decoder.Frame {
	return s.frames.at(frameRoot, s.place(), int32(s.views.root()), 0)
}

// at returns a frame of the given kind in a new place.
func (ft *frameTable) at(kind frameKind, at layout.Place, a, b int32) decoder.Frame {
	return ft.frame(frameKey{kind: kind, blank: ft.blanks(), at: at, a: a, b: b})
}

func (ft *frameTable) textFrame(text string, from int) decoder.Frame {
	return ft.frame(frameKey{kind: frameText, a: ft.text(text), b: int32(from)})
}

// leadEdge adds an edge for text that precedes frames.
func (ft *frameTable) leadEdge(e *decoder.Edges, text string, frames ...decoder.Frame) {
	if len(text) > 1 {
		frames = append(frames, ft.textFrame(text, 1))
	}
	e.Add(text[0], text[0], frames...)
}

// Expand implements [decoder.Source].
func (s *source) Expand(f decoder.Frame, e *decoder.Edges) {
	k := s.frames.Keys[f]
	if k.blank > 0 {
		less := k
		less.blank--
		g := s.frames.frame(less)
		e.Add('\t', '\n', g)
		e.Add('\r', '\r', g)
		e.Add(' ', ' ', g)
	}
	if full := s.blanks(); k.blank < full && k.kind != frameText && k.kind != frameString && k.kind != frameNumber && k.kind != frameObjKey {
		k.blank = full
		e.Like(s.frames.frame(k), tokens.BlankSet)
		return
	}
	switch k.kind {
	case frameRoot:
		end := s.frames.at(frameEnd, layout.Place{}, 0, 0)
		s.valueEdges(logic.Goal(k.a), k.at, func(lo, hi byte, g decoder.Frame) {
			if s.blanks() > 0 {
				e.Add(lo, hi, end, g)
			} else {
				e.Add(lo, hi, g)
			}
		})
	case frameEnd:
		e.MayEnd()
	case frameValue:
		e.Common()
		s.valueEdges(logic.Goal(k.a), k.at, func(lo, hi byte, g decoder.Frame) {
			if k.b != 0 && doubtful(lo, k.b) {
				e.CaptureOnly(lo, hi)
			} else {
				e.Add(lo, hi, g)
			}
		})
	case frameText:
		text := s.frames.texts[k.a]
		b := text[k.b]
		if int(k.b)+1 == len(text) {
			e.Add(b, b)
		} else {
			e.Add(b, b, s.frames.textFrame(text, int(k.b)+1))
		}
	case frameString:
		s.stringEdges(k, e)
	case frameNumber:
		s.numberEdges(k, e)
	case frameArrOpen:
		s.itemEdges(k, e, true)
	case frameArrAfter, frameArrItem:
		s.itemEdges(k, e, false)
	case frameObjOpen:
		if s.next.canContinue(k.a) {
			openings, indent := k.at.Openings()
			for _, c := range openings {
				if c.Text == "" {
					e.Add('"', '"', s.keyFrame(k.a, c.Place))
				} else {
					s.frames.leadEdge(e, c.Text, s.frames.at(frameObjComma, c.Place, k.a, 0))
				}
			}
			if indent {
				e.Add('\n', '\n', s.frames.frame(frameKey{kind: frameIndent, at: k.at, a: k.a}))
			}
		}
		if s.objects.canClose(&s.objects.states.Keys[k.a]) {
			e.Add('}', '}')
		}
	case frameObjComma:
		e.Add('"', '"', s.keyFrame(k.a, k.at))
	case frameIndent:
		s.indentEdges(k, e)
	case frameObjKey:
		s.keyEdges(k, e)
	case frameColon:
		e.Common()
		s.frames.leadEdge(e, s.frames.texts[k.a])
	case frameObjAfter:
		if s.next.canContinue(k.a) {
			for _, c := range k.at.Commas() {
				s.frames.leadEdge(e, c.Text, s.frames.at(frameObjComma, c.Place, k.a, 0))
			}
		}
		if s.objects.canClose(&s.objects.states.Keys[k.a]) {
			s.frames.leadEdge(e, k.at.Closing()+"}")
		}
	}
}

// memberFrames returns the frames after a key, given the text that follows it:
// of the object after the member, of the member's value and of the colon.
func (ft *frameTable) memberFrames(c layout.Choice, g logic.Goal, next int32) []decoder.Frame {
	return []decoder.Frame{
		ft.at(frameObjAfter, c.Place, next, 0),
		ft.at(frameValue, c.Place.Value(), int32(g), 0),
		ft.at(frameColon, layout.Place{}, ft.text(c.Text), 0),
	}
}

func (s *source) keyFrame(state int32, at layout.Place) decoder.Frame {
	return s.frames.frame(frameKey{kind: frameObjKey, at: at, a: state, b: s.next.before(state)})
}

// indentEdges records the edges within the first indentation of a document: more
// of it, or a key or an item, which ends it.
func (s *source) indentEdges(k frameKey, e *decoder.Edges) {
	more := func(b byte, read int32) {
		next := k
		next.b = read
		e.Add(b, b, s.frames.frame(next))
	}
	if k.b >= 0 && k.b < layout.MaxSpaces {
		more(' ', k.b+1)
	}
	if k.b == 0 {
		more('\t', -1)
	}
	for _, at := range k.at.Indented(int(k.b)) {
		if k.c == 0 {
			e.Add('"', '"', s.keyFrame(k.a, at))
		} else {
			s.firstItem(k.a, at, e)
		}
	}
}

// valueEdges calls add with the first byte of each kind of value that fulfils g.
func (s *source) valueEdges(g logic.Goal, at layout.Place, add func(lo, hi byte, f decoder.Frame)) {
	if m := s.texts.of(g); m >= 0 {
		add('"', '"', s.frames.frame(frameKey{kind: frameString, a: m, b: s.texts.machines[m].Start()}))
	}
	for _, a := range s.numbers.automataOf(logic.Form(s.views.of(g, jNumber))) {
		s.numberSteps(a, a.Start(), add)
	}
	if st := s.arrays.start(g); st >= 0 {
		add('[', '[', s.frames.at(frameArrOpen, at, st, 0))
	}
	scalars := s.views.of(g, jScalar)
	if scalars&scalarFalse != 0 {
		add('f', 'f', s.frames.textFrame("false", 1))
	}
	if scalars&scalarNull != 0 {
		add('n', 'n', s.frames.textFrame("null", 1))
	}
	if scalars&scalarTrue != 0 {
		add('t', 't', s.frames.textFrame("true", 1))
	}
	if st := s.objects.start(g); st >= 0 {
		add('{', '{', s.frames.at(frameObjOpen, at, st, 0))
	}
}

func (s *source) numberSteps(a *number.Automaton, q number.State, add func(lo, hi byte, f decoder.Frame)) {
	id := s.numbers.id(a)
	const bytes = "+-.0123456789Ee"
	for i := 0; i < len(bytes); {
		b := bytes[i]
		next := a.Step(q, b)
		i++
		if next == number.Dead {
			continue
		}
		hi := b
		for i < len(bytes) && bytes[i] == hi+1 && a.Step(q, bytes[i]) == next {
			hi++
			i++
		}
		add(b, hi, s.frames.frame(frameKey{kind: frameNumber, a: id, b: next}))
	}
	s.numbers.check(a)
}

func (s *source) numberEdges(k frameKey, e *decoder.Edges) {
	a := s.numbers.list[k.a]
	if a.Accepting(k.b) {
		e.MayEnd()
	}
	s.numberSteps(a, k.b, func(lo, hi byte, f decoder.Frame) { e.Add(lo, hi, f) })
}

// itemFrames returns the frames of an item and of the array after it.
func (s *source) itemFrames(at layout.Place, m move, plenty int32) []decoder.Frame {
	after := frameArrAfter
	if s.arrays.isUnique(s.arrays.states[m.next].f) {
		after = frameArrItem
	}
	return []decoder.Frame{s.frames.at(after, at, m.next, 0), s.frames.at(frameValue, at.Value(), int32(m.g), plenty)}
}

// firstItem records the edges over the first bytes of an item whose frame has
// not read anything yet.
func (s *source) firstItem(state int32, at layout.Place, e *decoder.Edges) {
	for _, m := range s.arrays.itemMoves(state) {
		after := s.itemFrames(at, m, 0)[0]
		s.valueEdges(m.g, at.Value(), func(lo, hi byte, f decoder.Frame) { e.Add(lo, hi, after, f) })
	}
}

// itemEdges records what may follow [ or an item.
func (s *source) itemEdges(k frameKey, e *decoder.Edges, open bool) {
	closing := s.forms.Final(s.arrays.states[k.a].f)
	if open {
		openings, indent := k.at.Openings()
		for _, c := range openings {
			if c.Text == "" {
				s.firstItem(k.a, c.Place, e)
				continue
			}
			for _, m := range s.arrays.itemMoves(k.a) {
				s.frames.leadEdge(e, c.Text, s.itemFrames(c.Place, m, 0)...)
			}
		}
		if indent && len(s.arrays.itemMoves(k.a)) > 0 {
			e.Add('\n', '\n', s.frames.frame(frameKey{kind: frameIndent, at: k.at, a: k.a, c: 1}))
		}
		if closing {
			e.Add(']', ']')
		}
		return
	}
	ending := k.at.Closing() + "]"
	switch {
	case k.kind == frameArrItem && s.arrays.states[k.a].pending:
		// This is a second item while the first is unknown.
		e.CaptureOnly(',', ',')
		if closing {
			e.CaptureOnly(ending[0], ending[0])
		}
		return
	case k.kind == frameArrItem:
		plenty := s.arrays.plenty(k.a)
		if plenty == 0 {
			// Having to differ from the item just read never allows more; having
			// to equal it may.
			if len(s.arrays.itemMoves(k.a)) > 0 || s.forms.Mentions(s.arrays.states[k.a].f, logic.NotUnique) {
				e.CaptureOnly(',', ',')
			}
			break
		}
		for _, m := range s.arrays.itemMoves(k.a) {
			x := s.arrays.states[m.next]
			x.pending = true
			m.next = s.arrays.intern(x)
			for _, c := range k.at.Commas() {
				frames := s.itemFrames(c.Place, m, plenty)
				if len(c.Text) > 1 {
					frames = append(frames, s.frames.textFrame(c.Text, 1))
				}
				e.Capture(',', ',', frames...)
			}
		}
	default:
		for _, m := range s.arrays.itemMoves(k.a) {
			for _, c := range k.at.Commas() {
				s.frames.leadEdge(e, c.Text, s.itemFrames(c.Place, m, 0)...)
			}
		}
	}
	if closing {
		s.frames.leadEdge(e, ending)
	}
}

// Resolve implements [decoder.Source].
func (s *source) Resolve(f decoder.Frame, b byte, text []byte, e *decoder.Edges) {
	k := s.frames.Keys[f]
	switch k.kind {
	case frameObjKey:
		key, ok := jsondoc.LastString(text)
		if !ok {
			return
		}
		moves, _ := s.next.moves(k.a, k.b)
		for _, m := range moves {
			if next, ok := s.objects.withFree(m.next, key); ok {
				for _, c := range k.at.Colons() {
					e.Add(b, b, s.frames.memberFrames(c, m.g, next)...)
				}
			}
		}
	case frameArrItem:
		v, err := syntax.ReadJSON(string(jsondoc.LastValue(text)), s.opt.Limits.Depth)
		if err != nil {
			s.fail(fmt.Errorf("schema: item of an array: %w", err))
			return
		}
		state := k.a
		// Numbers too large for any computer are never generated; items that
		// contain them are not compared with others.
		if !v.HoldsHugeNumber() {
			var ok bool
			if state, ok = s.arrays.withItem(k.a, v); !ok {
				return
			}
		}
		after := k
		after.kind, after.a = frameArrAfter, state
		var rest decoder.Edges
		s.itemEdges(after, &rest, false)
		e.Include(&rest, b)
	}
}

// Describe implements [decoder.Source].
func (s *source) Describe(f decoder.Frame) string {
	k := s.frames.Keys[f]
	switch k.kind {
	case frameRoot, frameValue:
		return "a value"
	case frameEnd:
		return "the end"
	case frameText:
		return fmt.Sprintf("%q", s.frames.texts[k.a][k.b:])
	case frameString:
		m := s.texts.machines[k.a]
		if m.Accepting(k.b) {
			return "a character or the end of the string"
		}
		if n := m.Least(k.b); n > maxExample {
			return fmt.Sprintf("the string to go on for at least %d characters", n)
		}
		return fmt.Sprintf("the string to go on, for instance with %q", m.Shortest(k.b))
	case frameNumber:
		return "a digit"
	case frameIndent:
		if k.c == 0 {
			return s.describeKeys(k.a)
		}
		return "an item"
	case frameArrOpen:
		return "an item or ]"
	case frameArrAfter, frameArrItem:
		return ", or ]"
	case frameObjOpen, frameObjComma, frameObjKey:
		return s.describeKeys(k.a)
	case frameColon:
		return ":"
	}
	x := &s.objects.states.Keys[k.a]
	switch {
	case !s.objects.canClose(x):
		return "a comma and " + s.describeKeys(k.a)
	case !s.next.canContinue(k.a):
		return "}"
	}
	return ", or }"
}

// maxExample is the length up to which Describe shows the rest of a string.
const maxExample = 40

// describeKeys lists some keys that may come in an object state.
func (s *source) describeKeys(state int32) string {
	x := &s.objects.states.Keys[state]
	uni := s.keys.universes[x.uni]
	var words []string
	for i, id := range uni.names {
		if s.objects.allowedName(state, int32(i)) {
			if words = append(words, fmt.Sprintf("%q", s.sets.names[id])); len(words) == 5 {
				words = append(words, "…")
				break
			}
		}
	}
	if len(words) == 0 {
		return "a property"
	}
	return "property " + strings.Join(words, ", ")
}
