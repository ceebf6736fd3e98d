package spelling

import (
	"unicode/utf8"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/regular"
)

// EveryRune reports whether every character may come next.
func EveryRune(edges []regular.Edge) bool {
	at := rune(0)
	for _, e := range edges {
		if e.Lo > at {
			return false
		}
		if at = e.Hi + 1; at == FirstSurrogate {
			at = AfterSurrogates
		}
	}
	return at == utf8.MaxRune+1
}

// EveryRuneAlike reports whether every character leads to the same state.
func EveryRuneAlike(edges []regular.Edge) bool {
	at := rune(0)
	for _, e := range edges {
		if e.Lo > at || e.To != edges[0].To {
			return false
		}
		if at = e.Hi + 1; at == FirstSurrogate {
			at = AfterSurrogates
		}
	}
	return at == utf8.MaxRune+1
}

// A Place is a position in a text and within the spelling of a character.
type Place struct {
	State regular.State
	Sub   int32
}

// Step returns the place after another byte. known caches the edges of places
// inside escapes.
func (t *String) Step(sub int32, b byte, known map[Place]*Recorder) (Place, bool) {
	switch {
	case sub&subKind == subUTF8:
		p, next, ok := utf8Next(t, t.State, sub, b)
		return Place{p, next}, ok
	case sub != 0:
		at := Place{t.State, sub}
		r := known[at]
		if r == nil {
			r = &Recorder{Text: t}
			Edges(r, t.State, sub, &r.edges)
			known[at] = r
		}
		return r.to(b)
	case b == '\\':
		return Place{t.State, AfterBackslash}, t.Backslash()
	case b < utf8.RuneSelf:
		q := t.Machine.ASCII(t.State)[b]
		return Place{q, 0}, b >= 0x20 && b != '"' && q != regular.Dead
	case b < 0xC2 || b > 0xF4:
		return Place{}, false
	}
	n, bits := LeadByte(b)
	if lo, hi := UTF8Range(n, bits, n); !someAlive(t, lo, hi) {
		return Place{}, false
	}
	r := &Recorder{Text: t}
	HighEdge(r, t.State, b, &r.edges)
	return r.to(b)
}

// A Recorder numbers the frames that edges lead to, to recover the places
// behind them.
type Recorder struct {
	Text
	edges  decoder.Edges
	places []Place
}

// Frame implements [Text]. It returns the number of the place just recorded.
func (p *Recorder) Frame(place, sub int32) decoder.Frame {
	p.places = append(p.places, Place{place, sub})
	return decoder.Frame(len(p.places) - 1)
}

// to returns the place that a byte leads to.
func (p *Recorder) to(b byte) (Place, bool) {
	f, ok := p.edges.To(b)
	if !ok {
		return Place{}, false
	}
	return p.places[f], true
}

// A String is a position in a string value, between two characters.
type String struct {
	Machine *regular.Machine
	State   regular.State
	Free    bool // needless escapes are allowed
}

// Next implements [Text].
func (t *String) Next(r rune) (int32, bool) {
	q := t.Machine.Step(t.State, r)
	return q, q != regular.Dead
}

// Alive implements [Text].
func (t *String) Alive(lo, hi rune) bool {
	for _, e := range t.Machine.Ranges(t.State) {
		if e.Lo > hi {
			return false
		}
		if e.Hi >= lo {
			return true
		}
	}
	return false
}

// FreeEscapes implements [Text]: generated strings are written as
// JSON.stringify writes them.
func (t *String) FreeEscapes() bool { return t.Free }

// Backslash reports whether a backslash may come.
func (t *String) Backslash() bool {
	table := t.Machine.ASCII(t.State)
	return t.Free && someAlive(t, 0, utf8.MaxRune) || table['"'] != regular.Dead || table['\\'] != regular.Dead || t.Alive(0, 0x1F)
}

// Uniform implements [Text].
func (t *String) Uniform() (int32, bool) {
	edges := t.Machine.Ranges(t.State)
	at, to := rune(utf8.RuneSelf), regular.State(regular.Dead)
	for _, e := range edges {
		if e.Hi < at {
			continue
		}
		if e.Lo > at || to != regular.Dead && e.To != to {
			return 0, false
		}
		to = e.To
		if at = e.Hi + 1; at == FirstSurrogate {
			at = AfterSurrogates
		}
	}
	return to, to != regular.Dead && at == utf8.MaxRune+1
}

// At implements [Text].
func (t *String) At(q int32) Text { return &String{t.Machine, q, t.Free} }

// Frame implements [Text], for callers that need no frames.
func (t *String) Frame(int32, int32) decoder.Frame { return 0 }
