package schema

import (
	"unicode/utf8"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/layout"
	"github.com/stencil-json/stencil/schema/spelling"
)

// stringText is the inside of a string value.
type stringText struct {
	spelling.String
	s       *source
	machine int32
}

func (s *source) stringText(machine int32, q regular.State) *stringText {
	return &stringText{spelling.String{Machine: s.texts.machines[machine], State: q, Free: s.opt.AnyNumberSpelling}, s, machine}
}

func (t *stringText) At(q int32) spelling.Text { return t.s.stringText(t.machine, q) }

func (t *stringText) Frame(place, sub int32) decoder.Frame {
	return t.s.frames.frame(frameKey{kind: frameString, a: t.machine, b: place, c: sub})
}

func (s *source) stringEdges(k frameKey, e *decoder.Edges) {
	t := s.stringText(k.a, k.b)
	m := t.Machine
	if k.c != 0 {
		spelling.Edges(t, k.b, k.c, e)
		return
	}
	if err := m.Err(); err != nil {
		s.fail(err)
	}
	table := m.ASCII(k.b)
	from := -1
	for c := 0x20; c <= utf8.RuneSelf; c++ {
		live := false
		switch {
		case c == utf8.RuneSelf:
		case c == '"':
			live = m.Accepting(k.b)
		case c == '\\':
			live = t.Backslash()
		default:
			live = table[c] != regular.Dead
		}
		switch {
		case live && from < 0:
			from = c
		case !live && from >= 0:
			e.Later(byte(from), byte(c-1))
			from = -1
		}
	}
	spelling.HighBytes(t, e)
}

func (s *source) stringByte(k frameKey, b byte, e *decoder.Edges) {
	t := s.stringText(k.a, k.b)
	switch {
	case b == '"':
		e.Add('"', '"')
	case b == '\\':
		e.Add('\\', '\\', t.Frame(k.b, spelling.AfterBackslash))
	case b < utf8.RuneSelf:
		e.Add(b, b, t.Frame(t.Machine.ASCII(k.b)[b], 0))
	default:
		spelling.HighEdge(t, k.b, b, e)
	}
}

// keyText is the inside of a property name.
type keyText struct {
	s     *source
	place layout.Place
	state int32
	key   int32
}

func (t *keyText) Next(r rune) (int32, bool) {
	key := t.s.keys.step(t.key, r)
	return key, t.s.next.alive(t.state, key)
}

func (t *keyText) Alive(lo, hi rune) bool {
	s := t.s
	k := s.keys.states.Keys[t.key]
	uni := s.keys.universes[k.uni]
	try := func(r rune) bool {
		if r < lo || r > hi || 0xD800 <= r && r < 0xE000 {
			return false
		}
		_, ok := t.Next(r)
		return ok
	}
	for i := k.lo; i < k.hi; i++ {
		if n := s.keys.nameAt(uni, i); len(n) > int(k.depth) {
			r, _ := utf8.DecodeRuneInString(n[k.depth:])
			if try(r) {
				return true
			}
		}
	}
	if try(lo) {
		return true
	}
	for _, r := range s.keys.stateSamples(k) {
		if try(r) {
			return true
		}
	}
	return false
}

// FreeEscapes implements spelling.Text: a name is written in one way only, so
// other ways need not be tried.
func (t *keyText) FreeEscapes() bool { return false }

// escapable reports whether a character that needs an escape may come.
func (t *keyText) escapable() bool {
	return t.Alive(0, 0x1F) || t.Alive('"', '"') || t.Alive('\\', '\\')
}

// cuts returns the ASCII characters, a space among them, that may have to be
// treated differently from the characters before them.
func (t *keyText) cuts() (out [utf8.RuneSelf + 1]bool) {
	s := t.s
	k := s.keys.states.Keys[t.key]
	uni := s.keys.universes[k.uni]
	out[' '] = true
	for _, r := range s.keys.stateSamples(k) {
		if r < utf8.RuneSelf {
			out[r] = true
		}
	}
	next := func(name string) {
		if len(name) > int(k.depth) && name[k.depth] < utf8.RuneSelf {
			c := name[k.depth]
			out[c], out[c+1] = true, true
		}
	}
	for i := k.lo; i < k.hi; i++ {
		next(s.keys.nameAt(uni, i))
	}
	for _, id := range s.keys.takenLists.All[k.taken] {
		next(s.sets.names[id])
	}
	return out
}

func (t *keyText) Uniform() (int32, bool) {
	s := t.s
	k := s.keys.states.Keys[t.key]
	uni := s.keys.universes[k.uni]
	for i := k.lo; i < k.hi; i++ {
		if n := s.keys.nameAt(uni, i); len(n) > int(k.depth) && n[k.depth] >= utf8.RuneSelf {
			return 0, false
		}
	}
	for _, id := range s.keys.takenLists.All[k.taken] {
		if n := s.sets.names[id]; len(n) > int(k.depth) && n[k.depth] >= utf8.RuneSelf {
			return 0, false
		}
	}
	for _, r := range s.keys.stateSamples(k) {
		if r > utf8.RuneSelf {
			return 0, false
		}
	}
	next, ok := t.Next(utf8.RuneSelf)
	return next, ok
}

func (t *keyText) At(key int32) spelling.Text {
	return &keyText{s: t.s, place: t.place, state: t.state, key: key}
}

func (t *keyText) Frame(place, sub int32) decoder.Frame {
	return t.s.frames.frame(frameKey{kind: frameObjKey, at: t.place, a: t.state, b: place, c: sub})
}

func (s *source) keyEdges(k frameKey, e *decoder.Edges) {
	t := &keyText{s: s, place: k.at, state: k.a, key: k.b}
	if k.c != 0 {
		spelling.Edges(t, k.b, k.c, e)
		return
	}
	ks := s.keys.states.Keys[k.b]
	uni := s.keys.universes[ks.uni]
	name, matching := s.keys.end(k.b)
	quote := name >= 0 && s.objects.allowedName(k.a, name) || name == -1 && s.objects.allowedFree(k.a, matching)
	if ks.free == 0 && s.next.free(k.a, k.b) {
		// Any key may come, and all of its characters may continue it.
		if quote {
			e.Later(0x20, utf8.RuneSelf-1)
		} else {
			e.Later(0x20, '"'-1)
			e.Later('"'+1, utf8.RuneSelf-1)
		}
		e.Later(0xC2, 0xF4)
		return
	}
	var live [256]bool
	if len(uni.pats) == 0 {
		for _, name := range s.objects.mayCome(k.a, ks) {
			n := s.sets.names[uni.names[name]]
			if len(n) == int(ks.depth) || !s.objects.allowedName(k.a, name) {
				continue
			}
			if c := n[ks.depth]; c < 0x20 || c == '"' || c == '\\' {
				live['\\'] = true
			} else {
				live[c] = true
			}
		}
	} else {
		cuts := t.cuts()
		alive := false
		for c := 0x20; c < utf8.RuneSelf; c++ {
			switch {
			case c == '"' || c == '\\':
				cuts[c+1] = cuts[c+1] || cuts[c]
				continue
			case cuts[c]:
				_, alive = t.Next(rune(c))
			}
			live[c] = alive
		}
		live['\\'] = t.escapable()
		spelling.HighBytes(t, e)
	}
	live['"'] = quote
	from := -1
	for c := 0x20; c <= len(live); c++ {
		switch alive := c < len(live) && live[c]; {
		case alive && from < 0:
			from = c
		case !alive && from >= 0:
			e.Later(byte(from), byte(c-1))
			from = -1
		}
	}
}

func (s *source) keyByte(k frameKey, b byte, e *decoder.Edges) {
	t := &keyText{s: s, place: k.at, state: k.a, key: k.b}
	switch {
	case b == '"':
		s.keyClose(k, e)
	case b == '\\':
		e.Add('\\', '\\', t.Frame(k.b, spelling.AfterBackslash))
	case b < utf8.RuneSelf:
		e.Add(b, b, t.Frame(s.keys.step(k.b, rune(b)), 0))
	default:
		spelling.HighEdge(t, k.b, b, e)
	}
}

// ExpandByte implements [decoder.Source].
func (s *source) ExpandByte(f decoder.Frame, b byte, e *decoder.Edges) {
	k := s.frames.Keys[f]
	if k.kind == frameString {
		s.stringByte(k, b, e)
	} else {
		s.keyByte(k, b, e)
	}
}

// keyClose records the quote that ends a key.
func (s *source) keyClose(k frameKey, e *decoder.Edges) {
	moves, free := s.next.moves(k.a, k.b)
	if !free {
		for _, m := range moves {
			for _, c := range k.at.Colons() {
				e.Add('"', '"', s.frames.memberFrames(c, m.g, m.next)...)
			}
		}
		return
	}
	if len(moves) == 0 {
		return
	}
	if s.objects.states.Keys[k.a].pending {
		// This is a second such key while the first is unknown.
		e.CaptureOnly('"', '"')
		return
	}
	for _, m := range moves {
		x := s.objects.states.Keys[m.next]
		x.pending = true
		for _, c := range k.at.Colons() {
			e.Capture('"', '"', s.frames.memberFrames(c, m.g, s.objects.intern(x))...)
		}
	}
}
