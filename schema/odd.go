package schema

import (
	"unicode/utf8"

	"stencil/decoder"
	"stencil/regular"
)

// oddPlace is a place in a text and in the spelling of a character.
type oddPlace struct {
	q   regular.State
	sub int32
}

// odd finds the tokens inside a string that hold escapes or parts of
// characters, after state q of m.
func (t *vocabTables) odd(m *regular.Machine, q regular.State, strict bool) []int32 {
	trie := t.strings.Irregular
	states := make([]oddPlace, trie.Depth+1)
	states[0].q = q
	known := map[oddPlace]*placeRecorder{}
	var list []int32
	for i := int32(0); int(i) < trie.Len(); {
		n := &trie.Nodes[i]
		text := &spelling{m, states[n.Depth-1].q, !strict}
		at, ok := text.step(states[n.Depth-1].sub, n.Byte, known)
		if !ok {
			i = n.End
			continue
		}
		states[n.Depth] = at
		list = append(list, trie.At(i)...)
		i++
	}
	return list
}

// step returns the place after one more byte. What follows the beginning of a
// spelling is kept in known.
func (t *spelling) step(sub int32, b byte, known map[oddPlace]*placeRecorder) (oddPlace, bool) {
	switch {
	case sub&subKind == subUTF8:
		p, next, ok := utf8Next(t, t.q, sub, b)
		return oddPlace{p, next}, ok
	case sub != 0:
		at := oddPlace{t.q, sub}
		r := known[at]
		if r == nil {
			r = &placeRecorder{text: t}
			subEdges(r, t.q, sub, &r.edges)
			known[at] = r
		}
		return r.to(b)
	case b == '\\':
		return oddPlace{t.q, subEscape}, t.escape()
	case b < utf8.RuneSelf:
		q := t.m.ASCII(t.q)[b]
		return oddPlace{q, 0}, b >= 0x20 && b != '"' && q != regular.Dead
	case b < 0xC2 || b > 0xF4:
		return oddPlace{}, false
	}
	n, bits := leadByte(b)
	if lo, hi := utf8Range(n, bits, n); !someAlive(t, lo, hi) {
		return oddPlace{}, false
	}
	r := &placeRecorder{text: t}
	highEdge(r, t.q, b, &r.edges)
	return r.to(b)
}

// placeRecorder numbers the frames that edges lead to, to get the places
// behind them.
type placeRecorder struct {
	text
	edges  decoder.Edges
	places []oddPlace
}

func (p *placeRecorder) frame(place, sub int32) decoder.Frame {
	p.places = append(p.places, oddPlace{place, sub})
	return decoder.Frame(len(p.places) - 1)
}

// to returns the place that a byte leads to.
func (p *placeRecorder) to(b byte) (oddPlace, bool) {
	f, ok := p.edges.To(b)
	if !ok {
		return oddPlace{}, false
	}
	return p.places[f], true
}
