package tokens

import (
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/spelling"
	"github.com/stencil-json/stencil/vocab"
)

// walkState is a position in a walk through the trie of plain tokens.
type walkState struct {
	q     regular.State
	rune  rune
	more  int8      // missing bytes of the current character
	whole bool      // q is the state after the current character already
	at    *walkInfo // the information on q; nil until needed
}

// walkInfo is the information on a state that a walk needs.
type walkInfo struct {
	q      regular.State
	table  *[128]regular.State
	beyond regular.State // after any character that isn't ASCII, if alike
	alike  bool
	looked bool   // look has run
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
		t.walkTrie(t.Strings.PlainTrie, t.Strings.Below, m, q, l.Base)
		t.grow(8 * len(l.Base))
		return l
	}
	list := t.walkTrie(t.Strings.PlainTrie, t.Strings.Below, m, q, nil)
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

// walkTrie returns the plain tokens of a trie that may follow q or, given a set
// that contains all of them, clears the others there. It skips the subtree
// below a node if everything in it consists of characters that keep the
// language alive. The slice is valid until the next call.
func (t *Tables) walkTrie(trie *vocab.Trie, below []vocab.Subtree, m *regular.Machine, q regular.State, all vocab.Bitset) []int32 {
	if t.scratch == nil {
		t.scratch = make([]walkState, t.Strings.PlainTrie.Depth+1)
		t.found = make([]int32, 0, t.Vocab.Len())
	}
	states := t.scratch
	states[0] = walkState{q: q}
	list := t.found[:0]
	nodes := trie.Nodes
	for i := 0; i < trie.Len(); {
		n := &nodes[i]
		above := &states[n.Depth-1]
		at := *above
		switch b := n.Byte; {
		case at.more > 0:
			at.rune = at.rune<<6 | rune(b&0x3F)
			if at.more--; at.more == 0 && !at.whole {
				at.q, at.at = m.Step(at.q, at.rune), nil
			}
		default:
			if at.at == nil {
				above.at = t.info(m, at.q)
				at.at = above.at
			}
			next := at.at.beyond
			if b < utf8.RuneSelf {
				next = at.at.table[b]
			} else {
				n, bits := spelling.LeadByte(b)
				at.rune, at.more, at.whole = rune(bits), int8(n), at.at.alike
				if !at.whole {
					break
				}
			}
			if next != at.q {
				at.q, at.at = next, nil
			}
		}
		if at.q == regular.Dead {
			if all != nil {
				for _, tok := range trie.Tokens[n.First:nodes[n.End].First] {
					all.Clear(tok)
				}
			}
			i = int(n.End)
			continue
		}
		if n.End > int32(i)+1 && at.more == 0 {
			if at.at == nil {
				at.at = t.info(m, at.q)
			}
			if !at.at.looked && n.End-int32(i) > smallTree {
				at.at.look(m)
			}
			if s := &below[i]; at.at.looked && s.Low&^at.at.low == 0 && s.High&^at.at.high == 0 && s.Wide&^at.at.wide == 0 && s.Height <= at.at.most {
				if all == nil {
					list = append(list, trie.Tokens[n.First:nodes[n.End].First]...)
				}
				i = int(n.End)
				continue
			}
		}
		if n.End > int32(i)+1 {
			states[n.Depth] = at
		}
		if first, last := n.First, nodes[i+1].First; first != last && all == nil {
			list = append(list, trie.Tokens[first:last]...)
		}
		i++
	}
	t.found = list
	return list
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
		*kept = &walkInfo{q: q, table: m.ASCII(q)}
		(*kept).beyond, (*kept).alike = beyondASCII(m.Ranges(q))
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
