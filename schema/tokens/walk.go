package tokens

import (
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/spelling"
	"github.com/stencil-json/stencil/vocab"
)

// walkState is a position in a text, between bytes.
type walkState struct {
	q    regular.State
	rune rune
	more int8 // missing bytes of the current character
}

// walkInfo is the information on a state that a walk needs.
type walkInfo struct {
	q      regular.State
	table  *[128]regular.State
	beyond regular.State // after any character that isn't ASCII, if alike
	alike  bool
	uneven bool   // tells the characters of a class apart
	looked bool   // look has run
	ragged bool   // the characters below are not whole classes
	most   uint16 // how often the characters below may be repeated
	// As in vocab.Subtree.
	low, high, wide uint64
}

// look determines which characters keep the language alive.
func (i *walkInfo) look(m *regular.Machine) {
	if i.looked {
		return
	}
	i.looked = true
	if set, most := m.Head(i.q); set != nil {
		key, _ := classKey(set)
		i.low, i.high, i.wide, i.most = key.low, key.high, wide(set), 1<<16-1
		if most >= 0 {
			i.most = uint16(min(most, 1<<16-1))
		}
		i.ragged = !wholeClasses(set)
	}
}

// infoTable caches information on the states of one store, by the low bits of
// their numbers: states visited together mostly differ there.
type infoTable struct {
	of   *regular.Store
	rows [1024]*walkInfo
}

// step returns the place after one more byte.
func (w walkState) step(m *regular.Machine, b byte) walkState {
	switch {
	case w.more > 0:
		w.rune = w.rune<<6 | rune(b&0x3F)
		if w.more--; w.more == 0 {
			w.q = m.Step(w.q, w.rune)
		}
	case b < utf8.RuneSelf:
		w.q = m.Step(w.q, rune(b))
	default:
		n, bits := spelling.LeadByte(b)
		w.rune, w.more = rune(bits), int8(n)
	}
	return w
}

// walk computes the plain tokens after which the string is still open.
func (t *Tables) walk(m *regular.Machine, q regular.State) *StringTokens {
	l := &StringTokens{Irregular: true}
	at := t.info(m, q)
	at.look(m)
	if bits.OnesCount64(at.low)+bits.OnesCount64(at.high) > mostCharacters {
		l.Base = slices.Clone(t.Strings.Plain)
		t.walkPlain(m, q, l.Base)
		t.grow(8 * len(l.Base))
		return l
	}
	list := t.walkPlain(m, q, nil)
	if len(list) > t.Vocab.Len()/64 {
		l.Base = vocab.NewBitset(t.Vocab.Len())
		for _, tok := range list {
			l.Base.Set(tok)
		}
		t.grow(8 * len(l.Base))
	} else {
		l.Extra = slices.Clone(list)
	}
	return l
}

// mostCharacters is the number of repeatable ASCII characters from which fewer
// tokens have to be excluded than listed.
const mostCharacters = 48

// walkPlain is walkTrie of all plain tokens.
func (t *Tables) walkPlain(m *regular.Machine, q regular.State, all vocab.Bitset) []int32 {
	if list, ok := t.walkTrie(t.classes.trie, t.classes.below, true, m, q, all); ok {
		return list
	}
	list, _ := t.walkTrie(t.Strings.PlainTrie, t.Strings.Below, false, m, q, all)
	return list
}

// walkTrie returns the plain tokens of a trie that may follow q or, given a set
// that contains all of them, clears the others there. It skips the subtree
// below a node if everything in it consists of characters that keep the
// language alive. The slice is valid until the next call.
//
// In a trie of classes, ok is false if a state was met that tells the characters
// of one apart. What has been cleared by then is right.
func (t *Tables) walkTrie(trie *vocab.Trie, below []vocab.Subtree, classes bool, m *regular.Machine, q regular.State, all vocab.Bitset) (list []int32, ok bool) {
	if t.scratch == nil {
		t.scratch = make([]trieState, t.Strings.PlainTrie.Depth+1)
		t.found = make([]int32, 0, t.Vocab.Len())
	}
	states := t.scratch
	states[0] = trieState{at: t.info(m, q)}
	if classes && states[0].at.uneven {
		return nil, false
	}
	list = t.found[:0]
	nodes := trie.Nodes
	for i, end := int32(0), int32(trie.Len()); i < end; {
		n := &nodes[i]
		above := &states[n.Depth-1]
		at, next := above.at, regular.Dead
		if b := n.Byte; above.more == 0 && b < utf8.RuneSelf {
			next = at.table[b]
		} else {
			states[n.Depth] = above.within(m, b, &next)
			if next != regular.Dead && states[n.Depth].more > 0 {
				i++
				continue
			}
		}
		if next == regular.Dead {
			if all != nil {
				for _, tok := range trie.Tokens[n.First:nodes[n.End].First] {
					all.Clear(tok)
				}
			}
			i = n.End
			continue
		}
		if n.End > i+1 {
			if next != at.q {
				if at = t.info(m, next); classes && at.uneven {
					return nil, false
				}
			}
			if !at.looked && n.End-i > smallTree {
				at.look(m)
			}
			if at.looked && !(classes && at.ragged) && at.covers(&below[i]) {
				if all == nil {
					list = append(list, trie.Tokens[n.First:nodes[n.End].First]...)
				}
				i = n.End
				continue
			}
			below := &states[n.Depth]
			below.at, below.more = at, 0
		}
		if all == nil {
			list = append(list, trie.Tokens[n.First:nodes[i+1].First]...)
		}
		i++
	}
	t.found = list
	return list, true
}

// trieState is a position in a walk through the trie of plain tokens.
type trieState struct {
	at    *walkInfo // on the state before the current character
	rune  rune      // of the bytes read so far
	more  int8      // missing bytes of the current character; 0: it has not begun
	whole bool      // all characters that aren't ASCII lead to the same state
}

// within returns the position after one more byte of a character that isn't ASCII. to is the
// state after the character or, if that isn't known yet, the one before it.
func (s *trieState) within(m *regular.Machine, b byte, to *regular.State) trieState {
	next := *s
	if s.more > 0 {
		next.rune, next.more = s.rune<<6|rune(b&0x3F), s.more-1
	} else {
		n, bits := spelling.LeadByte(b)
		next.rune, next.more, next.whole = rune(bits), int8(n), s.at.alike
	}
	switch {
	case next.whole:
		*to = s.at.beyond
	case next.more > 0:
		*to = s.at.q
	default:
		*to = m.Step(s.at.q, next.rune)
	}
	return next
}

// covers reports whether every text below a node of the trie keeps the language alive.
func (i *walkInfo) covers(s *vocab.Subtree) bool {
	return s.Low&^i.low == 0 && s.High&^i.high == 0 && s.Wide&^i.wide == 0 && s.Height <= i.most
}

// smallTree is the number of nodes up to which visiting a subtree costs less
// than looking up the information on a state.
const smallTree = 8

// info returns the information on a state.
func (t *Tables) info(m *regular.Machine, q regular.State) *walkInfo {
	if store := m.Store(); t.infos.of != store {
		t.infos = infoTable{of: store}
	}
	kept := &t.infos.rows[uint32(q)%uint32(len(t.infos.rows))]
	if *kept == nil || (*kept).q != q {
		edges := m.Ranges(q)
		*kept = &walkInfo{q: q, table: m.ASCII(q), uneven: !classesAlike(edges)}
		(*kept).beyond, (*kept).alike = beyondASCII(edges)
	}
	return *kept
}

// beyondASCII returns the state after any character that isn't ASCII, if it is the same one for all.
func beyondASCII(edges []regular.Edge) (to regular.State, alike bool) {
	to, at := regular.Dead, rune(utf8.RuneSelf)
	for _, e := range edges {
		switch {
		case e.Hi < utf8.RuneSelf:
			continue
		case e.Lo > at || at > utf8.RuneSelf && e.To != to:
			return regular.Dead, false
		}
		if to, at = e.To, e.Hi+1; at == spelling.FirstSurrogate {
			at = spelling.AfterSurrogates
		}
	}
	return to, at == utf8.RuneSelf || at == utf8.MaxRune+1
}
