package tokens

import (
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/spelling"
	"github.com/stencil-json/stencil/vocab"
)

// StringTokens describes the tokens inside a language of strings.
type StringTokens struct {
	Base      vocab.Bitset // tokens after which the string is still open
	Extra     []int32      // more such tokens
	Irregular bool         // tokens with escapes or parts of characters are in neither
	All       []int32      // Extra and those tokens; nil until needed
	Closers   vocab.Bitset // closing tokens after which the string is in the language; nil: all
	NoCloser  bool         // no closing token is allowed

	m *regular.Machine // an equivalent state
	q regular.State
}

// InString returns the tokens that may follow state q of a language: those of Base
// and All, and the closing ones. strict excludes tokens with needless escapes.
func (t *Tables) InString(m *regular.Machine, q regular.State, strict bool) *StringTokens {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.plainText(m, q, strict)
	if l.All == nil {
		l.All = l.Extra
		if l.Irregular {
			odd := t.escapedTokens(l.m.Like(m), l.q, strict)
			l.All = slices.Concat(l.Extra, odd)
			t.grow(4 * len(l.All))
		}
		if l.All == nil {
			l.All = []int32{}
		}
	}
	return l
}

// InKey returns the tokens after state q of a machine of keys, without needless
// escapes. If the result is Irregular, it lacks the irregular tokens.
func (t *Tables) InKey(m *regular.Machine, q regular.State) *StringTokens {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.plainText(m, q, true)
}

func (t *Tables) plainText(m *regular.Machine, q regular.State, strict bool) *StringTokens {
	key := textKey{m.Place(q), strict}
	texts := t.storeTables(m).texts
	if l, ok := texts[key]; ok {
		return l
	}
	// States that differ only in counts beyond the length of any token are treated
	// as one.
	to, at := m.Loosen(q, t.longest)
	loose := textKey{to.Place(at), strict}
	l, ok := texts[loose]
	if !ok {
		l = t.openTokens(to, at)
		closers := t.Closers
		if strict {
			closers = t.StrictClosers
			if !l.Irregular {
				// All of Stay, or those of its tokens with few characters.
				l = &StringTokens{Base: t.withoutEscapes(l.Base), Extra: l.Extra}
			}
		}
		l.Closers, l.NoCloser = closers.accepted(to, at)
		l.m, l.q = to.Reporting(nil), at
		texts[loose] = l
		t.grow(96 + 4*len(l.Extra) + 8*len(l.Closers))
	}
	if loose != key {
		texts[key] = l
		t.grow(96)
	}
	return l
}

// openTokens returns the tokens after which the string is still open, computed
// once for all states that differ only in counts beyond the length of most tokens.
// The few longer tokens are checked separately.
func (t *Tables) openTokens(m *regular.Machine, q regular.State) *StringTokens {
	if n, ok := m.Room(q); ok {
		longest := len(t.Strings.StayChars) - 1
		if n < 0 || n > longest {
			n = longest
		}
		return &StringTokens{Base: t.Strings.StayChars[n]}
	}
	if t.reach == 0 {
		return t.openFrom(m, q)
	}
	to, at := m.Loosen(q, t.reach)
	key := to.Place(at)
	if key == m.Place(q) {
		return t.openFrom(m, q)
	}
	common, ok := t.storeTables(m).common[key]
	if !ok {
		common = t.openFrom(to, at)
		if common.Base != nil {
			base := slices.Clone(common.Base)
			for _, tok := range t.long {
				base.Clear(tok)
			}
			common.Base = base
		}
		common.Extra = slices.DeleteFunc(slices.Clone(common.Extra), func(tok int32) bool {
			_, long := slices.BinarySearch(t.long, tok)
			return long
		})
		t.storeTables(m).common[key] = common
		t.grow(96 + 8*len(common.Base) + 4*len(common.Extra))
	}
	long, _ := t.walkTrie(t.longTrie, t.longBelow, false, m, q, nil)
	return &StringTokens{Base: common.Base, Extra: slices.Concat(common.Extra, long), Irregular: common.Irregular}
}

// AnyText reports whether any token's text may follow state q.
func (t *Tables) AnyText(m *regular.Machine, q regular.State) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := m.Place(q)
	yes, ok := t.storeTables(m).whole[key]
	if !ok {
		if spelling.EveryRune(m.Ranges(q)) {
			if _, most := t.head(m, q); most == len(t.Strings.StayChars)-1 {
				yes = true
			}
		}
		t.storeTables(m).whole[key] = yes
		t.grow(32)
	}
	return yes
}

// withoutEscapes returns a set of tokens without those with needless escapes. It
// is called for few different sets.
func (t *Tables) withoutEscapes(base vocab.Bitset) vocab.Bitset {
	if &base[0] == &t.Strings.Stay[0] {
		return t.StrictStay
	}
	if out, ok := t.strict[&base[0]]; ok {
		return out
	}
	out := slices.Clone(base)
	out.And(t.StrictStay)
	t.strict[&base[0]] = out
	t.grow(8 * len(out))
	return out
}

// fewCharacters is the size of a set of characters up to which walking the trie is
// cheaper than combining sets of tokens.
const fewCharacters = 16

// openFrom computes the tokens after which the string is still open.
func (t *Tables) openFrom(m *regular.Machine, q regular.State) *StringTokens {
	s := t.Strings
	longest := len(s.StayChars) - 1
	set, most := t.head(m, q)
	key, whole := classKey(set)
	if !key.beyond && bits.OnesCount64(key.low)+bits.OnesCount64(key.high) <= fewCharacters {
		return t.walk(m, q)
	}
	if whole && (most == longest || !t.goesOn(m, q, set, most)) {
		return &StringTokens{Base: s.StayChars[most]}
	}
	leavers, ok := t.leavers(m, q, &key, set, most, longest)
	if !ok {
		return t.walk(m, q)
	}
	l := &StringTokens{Irregular: true}
	key.max = most
	base, known := t.sets[key]
	if !known {
		base = t.loop(key, longest)
		t.sets[key] = base
		t.grow(8 * len(base))
	}
	l.Base = base
	for _, tok := range leavers {
		if !base.Has(tok) && m.Alive(q, t.Vocab.Bytes(tok)) {
			l.Extra = append(l.Extra, tok)
		}
	}
	return l
}

// maxHeadWork bounds the number of states that head visits.
const maxHeadWork = 160

// maxTogether is the number of states that head follows at once.
const maxTogether = 24

// head returns a set of characters such that every text of at most the given
// number of its characters may follow state q.
func (t *Tables) head(m *regular.Machine, q regular.State) (set []regular.Range, most int) {
	longest := len(t.Strings.StayChars) - 1
	// All characters that may come first, as long as all of them may come again.
	var first []regular.Range
	for _, e := range m.Ranges(q) {
		if n := len(first); n > 0 && first[n-1].Hi+1 == e.Lo {
			first[n-1].Hi = e.Hi
		} else {
			first = append(first, regular.Range{Lo: e.Lo, Hi: e.Hi})
		}
	}
	depth := t.depth(m, q, first)
	if depth >= min(longest, 8) {
		return first, depth
	}
	set, most = m.Head(q)
	if set == nil || most >= 0 && most <= depth {
		return first, depth
	}
	if most < 0 || most > longest {
		return set, longest
	}
	// The shape of an expression doesn't show what may follow a repeated part
	// after the last repetition, which often is more of the same.
	return set, max(most, t.depth(m, q, set))
}

// depth returns a number of characters, at most that of the longest token, such
// that every text of that many characters of set may follow state q.
func (t *Tables) depth(m *regular.Machine, q regular.State, set []regular.Range) int {
	longest := len(t.Strings.StayChars) - 1
	states := []regular.State{q}
	depth := 0
	for work := 0; depth < longest && work < maxHeadWork; depth++ {
		work += len(states)
		var next []regular.State
		covered := true
		for _, q := range states {
			if covered = covers(m.Ranges(q), set); !covered {
				break
			}
			for _, e := range m.Ranges(q) {
				if overlaps(set, e.Lo, e.Hi) && !slices.Contains(next, e.To) {
					next = append(next, e.To)
				}
			}
		}
		if !covered || len(next) > maxTogether {
			break
		}
		slices.Sort(next)
		if slices.Equal(next, states) {
			return longest
		}
		states = next
	}
	return depth
}

// covers reports whether edges cover every character of set.
func covers(edges []regular.Edge, set []regular.Range) bool {
	i := 0
	for _, r := range set {
		at := r.Lo
		for at <= r.Hi {
			for i < len(edges) && edges[i].Hi < at {
				i++
			}
			if i == len(edges) || edges[i].Lo > at {
				return false
			}
			at = edges[i].Hi + 1
		}
	}
	return true
}

// classKey packs a set of characters: ASCII as bits, and whether it contains all
// other characters. whole reports whether it contains every character.
func classKey(set []regular.Range) (key setKey, whole bool) {
	at := rune(utf8.RuneSelf)
	for _, r := range set {
		for c := r.Lo; c <= r.Hi && c < utf8.RuneSelf; c++ {
			if c < 64 {
				key.low |= 1 << c
			} else {
				key.high |= 1 << (c - 64)
			}
		}
		if r.Lo <= at && r.Hi >= at {
			if at = r.Hi + 1; at == spelling.FirstSurrogate {
				at = spelling.AfterSurrogates
			}
		}
	}
	key.beyond = at == utf8.MaxRune+1
	return key, key.beyond && key.low == ^uint64(0) && key.high == ^uint64(0)
}

// wide returns the first bytes whose characters are all in set, as bits from 0xC0
// on.
func wide(set []regular.Range) (out uint64) {
	i := 0
	for b := 0xC2; b <= 0xF4; b++ {
		n, bits := spelling.LeadByte(byte(b))
		lo, hi := spelling.UTF8Range(n, bits, n)
		if b == 0xED {
			hi = spelling.FirstSurrogate - 1
		}
		for i < len(set) && set[i].Hi < lo {
			i++
		}
		at := i
		for at < len(set) && set[at].Lo <= lo && set[at].Hi >= lo && set[at].Hi < hi {
			lo = set[at].Hi + 1
			at++
		}
		if at < len(set) && set[at].Lo <= lo && set[at].Hi >= hi {
			out |= 1 << (b - 0xC0)
		}
	}
	return out
}

func (k *setKey) has(c rune) bool {
	switch {
	case c < 64:
		return k.low>>c&1 != 0
	case c < utf8.RuneSelf:
		return k.high>>(c-64)&1 != 0
	}
	return k.beyond
}

// loop returns the plain tokens that consist of characters of a set.
func (t *Tables) loop(key setKey, longest int) vocab.Bitset {
	s := t.Strings
	out := vocab.NewBitset(t.Vocab.Len())
	copy(out, s.Plain)
	for c := rune(0x20); c < utf8.RuneSelf; c++ {
		if s.With[c] != nil && !key.has(c) {
			out.AndNot(s.With[c])
		}
	}
	if !key.beyond {
		out.AndNot(s.WithHigh)
	}
	if key.max < longest {
		out.And(s.StayChars[key.max])
	}
	return out
}

// goesOn reports whether a string may continue after n characters of set.
func (t *Tables) goesOn(m *regular.Machine, q regular.State, set []regular.Range, n int) bool {
	states := []regular.State{q}
	for range n {
		var next []regular.State
		seen := map[regular.State]bool{}
		for _, q := range states {
			for _, e := range m.Ranges(q) {
				if !seen[e.To] && overlaps(set, e.Lo, e.Hi) {
					seen[e.To] = true
					next = append(next, e.To)
				}
			}
		}
		if states = next; len(states) == 0 || len(states) > 16 {
			break
		}
	}
	for _, q := range states {
		if len(m.Ranges(q)) > 0 {
			return true
		}
	}
	return false
}

func overlaps(set []regular.Range, lo, hi rune) bool {
	for _, r := range set {
		if r.Lo <= hi && r.Hi >= lo {
			return true
		}
	}
	return false
}

// maxLeavers is the number of tokens up to which those that might leave a loop are
// tried one by one.
const maxLeavers = 6000

// leavers lists plain tokens that may stay in the language although they don't
// consist of characters of set alone. ok is false if there are too many.
func (t *Tables) leavers(m *regular.Machine, q regular.State, key *setKey, set []regular.Range, most, longest int) (list []int32, ok bool) {
	// The states that characters of the set lead to, and the other characters that
	// may come there.
	states := []regular.State{q}
	seen := map[regular.State]int{q: 0} // the least depth of each state
	var out [2]uint64
	for depth := 0; depth <= most && len(states) > 0; depth++ {
		if depth == most && most < longest {
			for _, q := range states {
				if len(m.Ranges(q)) > 0 {
					return nil, false
				}
			}
		}
		var next []regular.State
		for _, q := range states {
			for _, e := range m.Ranges(q) {
				if e.Hi >= utf8.RuneSelf && !key.beyond {
					return nil, false
				}
				for c := e.Lo; c <= e.Hi && c < utf8.RuneSelf; c++ {
					if !key.has(c) {
						out[c>>6] |= 1 << (c & 63)
					}
				}
				if !overlaps(set, e.Lo, e.Hi) {
					continue
				}
				at, again := seen[e.To]
				if again && at <= depth && most < longest {
					return nil, false // at most this many characters of the set may come
				}
				if !again {
					seen[e.To] = depth + 1
					next = append(next, e.To)
				}
			}
		}
		if states = next; len(seen) > 400 {
			return nil, false
		}
	}
	if out == [2]uint64{} {
		return nil, true
	}
	union := vocab.NewBitset(t.Vocab.Len())
	for c := range rune(utf8.RuneSelf) {
		if out[c>>6]>>(c&63)&1 != 0 && t.Strings.With[c] != nil {
			union.Or(t.Strings.With[c])
		}
	}
	if union.Count() > maxLeavers {
		return nil, false
	}
	return union.AppendTo(nil), true
}
