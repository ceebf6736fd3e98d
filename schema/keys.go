package schema

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/logic"
	"github.com/stencil-json/stencil/schema/spelling"
	"github.com/stencil-json/stencil/vocab"
)

// A keyState is a position inside a property name: which of the universe's names
// can still come, and the states of the patterns. Which names are allowed is not
// part of it, but of the object's state.
type keyState struct {
	uni    int32
	lo, hi int32 // range of universe.sorted; empty if no name fits
	depth  int32 // bytes of those names that have been read
	vec    int32 // states of the universe's patterns
	taken  int32 // list of other keys, already read, that can still come

	// If patterns exclude some keys, free is 1 + the machine of the possible keys
	// other than names, and at is its state.
	free int32
	at   regular.State
}

func (k *keyState) hash() uint32 {
	return logic.Mix(logic.Pair(k.uni, k.lo), logic.Pair(k.hi, k.depth), logic.Pair(k.vec, k.taken)*3^logic.Pair(k.free, k.at))
}

// A keyRow caches the transitions of a key state over ASCII characters: most
// states are left by only one.
type keyRow struct {
	char byte // 0: none
	next int32
	all  *[128]int32 // 1 + the state; nil as long as one transition is enough
}

// takenKey is the class of a key that was read already.
const takenKey = -2

// keyAutomaton reads property names, over all names and patterns of a universe at
// once. It does not depend on the state of an object.
type keyAutomaton struct {
	*base
	sets  *keySets
	views *views
	texts *texts

	orders        logic.Memo[logic.Goal, []int32] // names in the order of the document
	universes     []*universe
	universeIndex logic.Lists // 1 + the number of the universe
	mentions      mentions
	scratch       []int32

	states         logic.Interned[keyState]
	rows           []keyRow    // by state
	vectors        logic.Lists // states of the patterns of a universe
	settledVectors logic.Memo[int32, bool]
	takenLists     logic.Lists // ascending
}

func newKeyAutomaton(b *base, sets *keySets, vs *views, ts *texts) *keyAutomaton {
	return &keyAutomaton{base: b, sets: sets, views: vs, texts: ts, universeIndex: logic.NewLists(),
		vectors: logic.NewLists(), takenLists: logic.NewLists()}
}

func (ka *keyAutomaton) start(in int32) int32 {
	uni := ka.universes[in]
	vec := make([]int32, len(uni.pats))
	for i, p := range uni.pats {
		vec[i] = ka.sets.patterns[p].machine.Start()
	}
	return ka.state(keyState{uni: in, hi: int32(len(uni.names)), vec: ka.vectors.Number(vec)})
}

func (ka *keyAutomaton) state(k keyState) int32 {
	if k.lo == k.hi {
		k.lo, k.hi = 0, 0
		if k.taken == 0 {
			k.depth = 0
		}
	}

	h := k.hash()
	i, at := ka.states.Find(&k, h)
	if i >= 0 {
		return i
	}
	ka.rows = append(ka.rows, keyRow{})
	return ka.states.Add(&k, h, at)
}

// nameAt returns the bytes of the i-th name in sorted order.
func (ka *keyAutomaton) nameAt(uni *universe, i int32) string {
	return ka.sets.names[uni.names[uni.sorted[i]]]
}

// narrow returns the names of a key state that continue with byte b.
func (ka *keyAutomaton) narrow(uni *universe, k keyState, b byte) keyState {
	d, names := int(k.depth), uni.sorted[k.lo:k.hi]
	name := func(i int) string { return ka.sets.names[uni.names[names[i]]] }
	// Names that end here come first.
	lo := sort.Search(len(names), func(i int) bool { return len(name(i)) > d && name(i)[d] >= b })
	n := sort.Search(len(names)-lo, func(i int) bool { return name(lo + i)[d] > b })
	k.lo, k.hi, k.depth = k.lo+int32(lo), k.lo+int32(lo+n), k.depth+1
	return k
}

// step returns the key state after character r.
func (ka *keyAutomaton) step(key int32, r rune) int32 {
	if r >= utf8.RuneSelf || r == 0 {
		return ka.stepSlow(key, r)
	}
	row := &ka.rows[key]
	if row.char == byte(r) {
		return row.next
	}
	if row.all != nil && row.all[r] != 0 {
		return row.all[r] - 1
	}
	next := ka.stepSlow(key, r)
	row = &ka.rows[key]
	switch {
	case row.char == 0:
		row.char, row.next = byte(r), next
	case row.all == nil:
		row.all = new([128]int32)
		fallthrough
	default:
		row.all[r] = next + 1
	}
	return next
}

func (ka *keyAutomaton) stepSlow(key int32, r rune) int32 {
	k := ka.states.Keys[key]
	uni := ka.universes[k.uni]
	var buf [utf8.UTFMax]byte
	bytes := buf[:utf8.EncodeRune(buf[:], r)]
	if k.taken != 0 {
		var list []int32
		for _, id := range ka.takenLists.All[k.taken] {
			if n := ka.sets.names[id]; len(n) > int(k.depth) && strings.HasPrefix(n[k.depth:], string(bytes)) {
				list = append(list, id)
			}
		}
		k.taken = ka.takenLists.Number(list)
	}
	for _, b := range bytes {
		k = ka.narrow(uni, k, b)
	}
	if k.free != 0 && k.at != regular.Dead {
		k.at = ka.texts.machines[k.free-1].Step(k.at, r)
	}
	if len(uni.pats) > 0 {
		vec := make([]int32, len(uni.pats))
		for i, q := range ka.vectors.All[k.vec] {
			vec[i] = regular.Dead
			if q != regular.Dead {
				vec[i] = ka.sets.patterns[uni.pats[i]].machine.Step(q, r)
			}
		}
		k.vec = ka.vectors.Number(vec)
	}
	return ka.state(k)
}

// end returns the class of the key that ends in a state: the index of a name; or
// -1 and the patterns that match; or takenKey.
func (ka *keyAutomaton) end(key int32) (name int32, matching uint64) {
	k := ka.states.Keys[key]
	uni := ka.universes[k.uni]
	if k.lo < k.hi && len(ka.nameAt(uni, k.lo)) == int(k.depth) {
		return uni.sorted[k.lo], 0
	}
	if k.taken != 0 {
		for _, id := range ka.takenLists.All[k.taken] {
			if len(ka.sets.names[id]) == int(k.depth) {
				return takenKey, 0
			}
		}
	}
	return -1, ka.vectorBits(uni, k.vec)
}

func (ka *keyAutomaton) vectorBits(uni *universe, vec int32) uint64 {
	var matching uint64
	for i, q := range ka.vectors.All[vec] {
		if q != regular.Dead && ka.sets.patterns[uni.pats[i]].machine.Accepting(q) {
			matching |= 1 << i
		}
	}
	return matching
}

// maxKeyWalk bounds the search for combinations of patterns that one key can
// match.
const maxKeyWalk = 20000

// reachable returns the sets of patterns that a key which isn't a name can
// match from a vector of pattern states.
func (ka *keyAutomaton) reachable(uni *universe, vec int32) []uint64 {
	if len(uni.pats) == 0 {
		return []uint64{0}
	}
	if r, ok := uni.reach[vec]; ok {
		return r
	}
	var out []uint64
	seen := map[int32]bool{vec: true}
	queue := []int32{vec}
	for steps := 0; len(queue) > 0; {
		v := queue[0]
		queue = queue[1:]
		if m := ka.vectorBits(uni, v); m&uni.finite == 0 && !slices.Contains(out, m) {
			out = append(out, m)
		}
		states := ka.vectors.All[v]
		for _, r := range ka.samples(uni, states) {
			if steps++; steps > maxKeyWalk {
				ka.limit("states of patterns for keys", maxKeyWalk)
				return out
			}
			next := make([]int32, len(states))
			for i, q := range states {
				next[i] = regular.Dead
				if q != regular.Dead {
					next[i] = ka.sets.patterns[uni.pats[i]].machine.Step(q, r)
				}
			}
			if n := ka.vectors.Number(next); !seen[n] {
				seen[n] = true
				queue = append(queue, n)
			}
		}
	}
	uni.reach.Put(vec, out)
	return out
}

// samples returns representative characters: patterns in the given states treat
// every character like one of them.
func (ka *keyAutomaton) samples(uni *universe, states []int32) []rune {
	out := []rune{0}
	for i, q := range states {
		if q == regular.Dead {
			continue
		}
		for _, e := range ka.sets.patterns[uni.pats[i]].machine.Ranges(q) {
			out = append(out, e.Lo)
			if e.Hi < utf8.MaxRune {
				out = append(out, e.Hi+1)
			}
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return slices.DeleteFunc(out, func(r rune) bool { return 0xD800 <= r && r < 0xE000 })
}

// along calls yield with the values of a trie and the key state that
// their text leads to.
func (ka *keyAutomaton) along(trie *vocab.Trie, key int32, yield func(key int32, values []int32)) {
	type place struct {
		key  int32
		rune rune
		more int8 // bytes missing to a whole character
	}
	states := make([]place, trie.Depth+1)
	states[0].key = key
	for i := int32(0); int(i) < trie.Len(); {
		n := &trie.Nodes[i]
		at := states[n.Depth-1]
		switch b := n.Byte; {
		case at.more > 0:
			at.rune = at.rune<<6 | rune(b&0x3F)
			if at.more--; at.more == 0 {
				at.key = ka.step(at.key, at.rune)
			}
		case b < utf8.RuneSelf:
			at.key = ka.step(at.key, rune(b))
		default:
			more, bits := spelling.LeadByte(b)
			at.rune, at.more = rune(bits), int8(more)
		}
		if at.more == 0 && ka.settled(at.key) {
			yield(at.key, trie.Tokens[n.First:trie.Nodes[n.End].First])
			i = n.End
			continue
		}
		states[n.Depth] = at
		if at.more == 0 {
			yield(at.key, trie.At(i))
		}
		i++
	}
}

// settled reports whether all continuations of a key have the same class.
func (ka *keyAutomaton) settled(key int32) bool {
	k := ka.states.Keys[key]
	if k.lo < k.hi || k.taken != 0 {
		return false
	}
	if k.free != 0 && k.at == regular.Dead {
		return true
	}
	ok, known := ka.settledVectors[k.vec]
	if !known {
		ok = true
		uni := ka.universes[k.uni]
		for i, q := range ka.vectors.All[k.vec] {
			if q != regular.Dead {
				m := ka.sets.patterns[uni.pats[i]].machine
				n, any := m.Room(q)
				ok = ok && any && n < 0 && m.Accepting(q)
			}
		}
		ka.settledVectors.Put(k.vec, ok)
	}
	return ok
}

// freeClasses returns the classes of the keys other than names: the sets of
// patterns that such a key can match.
func (ka *keyAutomaton) freeClasses(uni *universe) []uint64 {
	return ka.reachable(uni, ka.states.Keys[uni.start].vec)
}

// stateSamples returns representative characters of a state: all others are
// treated like one of them, except those that continue a name.
func (ka *keyAutomaton) stateSamples(k keyState) []rune {
	uni := ka.universes[k.uni]
	if len(uni.pats) == 0 {
		return nil
	}
	list := ka.samples(uni, ka.vectors.All[k.vec])
	if k.free != 0 && k.at != regular.Dead {
		for _, e := range ka.texts.machines[k.free-1].Ranges(k.at) {
			list = append(list, e.Lo)
			if e.Hi < utf8.MaxRune && (e.Hi < spelling.FirstSurrogate-1 || e.Hi >= spelling.AfterSurrogates-1) {
				list = append(list, e.Hi+1)
			}
		}
	}
	return list
}
