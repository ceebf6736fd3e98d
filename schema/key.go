package schema

import (
	"slices"
	"strings"
	"unicode/utf8"

	"stencil/regular"
)

// A keyState is a place inside a property name: which of the family's names
// can still come, and where the patterns stand. It doesn't know which names
// are allowed; that is the object state's part.
type keyState struct {
	fam    int32
	lo, hi int32 // range of family.sorted; empty when no name fits
	depth  int32 // bytes of those names that have been read
	vec    int32 // states of the family's patterns
	taken  int32 // list of other keys, read before, that can still come

	// Where patterns make some keys impossible, free is 1 + the machine of
	// those that are possible without being names, and at its state.
	free int32
	at   regular.State
}

func (k *keyState) hash() uint32 {
	return mix(pair(k.fam, k.lo), pair(k.hi, k.depth), pair(k.vec, k.taken)*3^pair(k.free, k.at))
}

// A keyRow keeps where ASCII characters lead from a key state: from most of
// them only one is ever followed.
type keyRow struct {
	char byte // 0: none
	next int32
	all  *[128]int32 // 1 + the state; nil while one is enough
}

// taken is the class of a key that was read before.
const taken = -2

func exprOf(v int32) regular.Expr { return regular.Expr(v) }

func (s *source) keyStart(fam int32) int32 {
	fm := s.objects.families[fam]
	vec := make([]int32, len(fm.pats))
	for i, p := range fm.pats {
		vec[i] = s.patterns[p].machine.Start()
	}
	return s.keyState(keyState{fam: fam, hi: int32(len(fm.names)), vec: s.vector(vec)})
}

func (s *source) vector(vec []int32) int32 {
	if len(vec) == 0 {
		return 0
	}
	t := &s.objects
	key := keyOf(vec...)
	if i, ok := t.vecIndex[key]; ok {
		return i
	}
	i := int32(len(t.vectors))
	t.vectors = append(t.vectors, slices.Clone(vec))
	t.vecIndex[key] = i
	return i
}

func (s *source) keyState(k keyState) int32 {
	if k.lo == k.hi {
		k.lo, k.hi = 0, 0
		if k.taken == 0 {
			k.depth = 0
		}
	}
	t := &s.objects
	h := k.hash()
	i, at := t.keyStates.find(&k, h)
	if i >= 0 {
		return i
	}
	t.keyRows = append(t.keyRows, keyRow{})
	return t.keyStates.add(&k, h, at)
}

// firstKey returns the key state before a key in an object state.
func (s *source) firstKey(state int32) int32 {
	if k := s.objects.firstKeys[state]; k != 0 {
		return k - 1
	}
	k := s.keyState(s.beforeKey(state))
	s.objects.firstKeys[state] = k + 1
	return k
}

// anyKey returns the key state before a key that wasn't read before, whether
// or not such a key may come now.
func (s *source) anyKey(state int32) int32 {
	x := s.objects.states.keys[state]
	k := s.objects.keyStates.keys[s.objects.families[x.fam].start]
	k.taken = s.takenBy(&x)
	return s.keyState(k)
}

func (s *source) beforeKey(state int32) keyState {
	x := s.objects.states.keys[state]
	fam := s.objects.families[x.fam]
	k := s.objects.keyStates.keys[fam.start]
	if len(fam.pats) > 0 {
		s.restrict(state, fam, &k)
	}
	k.taken = s.takenBy(&x)
	return k
}

// takenBy returns the list of the keys that aren't names and have been read.
func (s *source) takenBy(x *objState) int32 {
	if x.free == 0 {
		return 0
	}
	id, ok := s.objects.takenOf[x.free]
	if !ok {
		var list []int32
		for l := x.free; l != 0; l = s.objects.freeLists[l].parent {
			list = append(list, s.objects.freeLists[l].name)
		}
		id = s.takenList(list)
		s.objects.takenOf[x.free] = id
	}
	return id
}

// restrict gives a key state the machine of the keys that can come, if that
// isn't all of them.
func (s *source) restrict(state int32, fam *family, k *keyState) {
	classes := s.reachable(fam, k.vec)
	var allowed []regular.Expr
	for _, matching := range classes {
		if !s.allowedFree(state, matching) {
			continue
		}
		var parts []regular.Expr
		for i, p := range fam.pats {
			e := s.patterns[p].expr
			if matching>>i&1 == 0 {
				e = s.lang.Not(e)
			}
			parts = append(parts, e)
		}
		allowed = append(allowed, s.lang.And(parts...))
	}
	if len(allowed) == len(classes) {
		return
	}
	e := s.lang.Or(allowed...)
	if len(allowed) > 0 && len(fam.names) > 0 && len(fam.names) <= maxSubtracted {
		names := make([]string, len(fam.names))
		for i, id := range fam.names {
			names[i] = s.names[id]
		}
		e = s.lang.And(e, s.lang.Not(s.lang.Strings(names)))
	}
	m := s.machine(e)
	k.free, k.at = 1+s.machineID(m), m.Start()
}

// maxSubtracted is the number of names up to which they are taken out of the
// language of other keys. It matters only where few other keys are left.
const maxSubtracted = 64

func (s *source) takenList(list []int32) int32 {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	t := &s.objects
	key := keyOf(list...)
	if i, ok := t.takenIndex[key]; ok {
		return i
	}
	i := int32(len(t.takenLists))
	t.takenLists = append(t.takenLists, list)
	t.takenIndex[key] = i
	return i
}

// nameAt returns the bytes of the i-th name in sorted order.
func (s *source) nameAt(fam *family, i int32) string { return s.names[fam.names[fam.sorted[i]]] }

// narrow returns the names of a key state that go on with byte b.
func (s *source) narrow(fam *family, k keyState, b byte) keyState {
	lo, hi, d := k.lo, k.hi, int(k.depth)
	// The range is sorted, and names that end here come first.
	for lo < hi {
		n := s.nameAt(fam, lo)
		if len(n) > d && n[d] >= b {
			break
		}
		lo++
	}
	end := lo
	for end < hi && s.nameAt(fam, end)[d] == b {
		end++
	}
	k.lo, k.hi, k.depth = lo, end, k.depth+1
	return k
}

// keyStep returns the key state after character r.
func (s *source) keyStep(key int32, r rune) int32 {
	if r >= utf8.RuneSelf || r == 0 {
		return s.keyStepSlow(key, r)
	}
	row := &s.objects.keyRows[key]
	if row.char == byte(r) {
		return row.next
	}
	if row.all != nil && row.all[r] != 0 {
		return row.all[r] - 1
	}
	next := s.keyStepSlow(key, r)
	row = &s.objects.keyRows[key]
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

func (s *source) keyStepSlow(key int32, r rune) int32 {
	k := s.objects.keyStates.keys[key]
	fam := s.objects.families[k.fam]
	var buf [utf8.UTFMax]byte
	bytes := buf[:utf8.EncodeRune(buf[:], r)]
	if k.taken != 0 {
		var list []int32
		for _, id := range s.objects.takenLists[k.taken] {
			if n := s.names[id]; len(n) > int(k.depth) && strings.HasPrefix(n[k.depth:], string(bytes)) {
				list = append(list, id)
			}
		}
		k.taken = s.takenList(list)
	}
	for _, b := range bytes {
		k = s.narrow(fam, k, b)
	}
	if k.free != 0 && k.at != regular.Dead {
		k.at = s.machines[k.free-1].Step(k.at, r)
	}
	if len(fam.pats) > 0 {
		vec := make([]int32, len(fam.pats))
		for i, q := range s.objects.vectors[k.vec] {
			vec[i] = regular.Dead
			if q != regular.Dead {
				vec[i] = s.patterns[fam.pats[i]].machine.Step(q, r)
			}
		}
		k.vec = s.vector(vec)
	}
	return s.keyState(k)
}

// keyEnd returns the class of the key that ends in a state: the index of a
// name, or -1 and the patterns that match, or taken.
func (s *source) keyEnd(key int32) (name int32, matching uint64) {
	k := s.objects.keyStates.keys[key]
	fam := s.objects.families[k.fam]
	if k.lo < k.hi && len(s.nameAt(fam, k.lo)) == int(k.depth) {
		return fam.sorted[k.lo], 0
	}
	if k.taken != 0 {
		for _, id := range s.objects.takenLists[k.taken] {
			if len(s.names[id]) == int(k.depth) {
				return taken, 0
			}
		}
	}
	return -1, s.vectorBits(fam, k.vec)
}

func (s *source) vectorBits(fam *family, vec int32) uint64 {
	var matching uint64
	for i, q := range s.objects.vectors[vec] {
		if q != regular.Dead && s.patterns[fam.pats[i]].machine.Accepting(q) {
			matching |= 1 << i
		}
	}
	return matching
}

// maxKeyWalk bounds the search for the classes of keys that patterns allow
// together.
const maxKeyWalk = 20000

// reachable returns the sets of patterns that a key which isn't a name can
// match from a vector of pattern states.
func (s *source) reachable(fam *family, vec int32) []uint64 {
	if len(fam.pats) == 0 {
		return []uint64{0}
	}
	if r, ok := fam.reach[vec]; ok {
		return r
	}
	var out []uint64
	seen := map[int32]bool{vec: true}
	queue := []int32{vec}
	for steps := 0; len(queue) > 0; {
		v := queue[0]
		queue = queue[1:]
		if m := s.vectorBits(fam, v); m&fam.finite == 0 && !slices.Contains(out, m) {
			out = append(out, m)
		}
		states := s.objects.vectors[v]
		for _, r := range s.samples(fam, states) {
			if steps++; steps > maxKeyWalk {
				s.limit("states of patterns for keys", maxKeyWalk)
				return out
			}
			next := make([]int32, len(states))
			for i, q := range states {
				next[i] = regular.Dead
				if q != regular.Dead {
					next[i] = s.patterns[fam.pats[i]].machine.Step(q, r)
				}
			}
			if n := s.vector(next); !seen[n] {
				seen[n] = true
				queue = append(queue, n)
			}
		}
	}
	fam.reach[vec] = out
	return out
}

// samples returns characters that stand for all: patterns in the given
// states treat every character like one of them.
func (s *source) samples(fam *family, states []int32) []rune {
	out := []rune{0}
	for i, q := range states {
		if q == regular.Dead {
			continue
		}
		for _, e := range s.patterns[fam.pats[i]].machine.Ranges(q) {
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

// keyAlive reports whether a key that is allowed in an object state can be
// completed from a key state.
func (s *source) keyAlive(state, key int32) bool {
	k := s.objects.keyStates.keys[key]
	if k.lo < k.hi {
		fam := s.objects.families[k.fam]
		x := s.objects.states.keys[state]
		if s.untouched(&x, -1) && s.freeFrom(state, key) {
			return true
		}
		for i := k.lo; i < k.hi; i++ {
			if s.allowedName(state, fam.sorted[i]) {
				return true
			}
		}
	}
	return s.freeFrom(state, key)
}

// moves returns the ways to go on when the key ends here, leaving out
// whether the key was read before.
func (s *source) keyMoves(state, key int32) (moves []move, free bool) {
	name, matching := s.keyEnd(key)
	if name == taken {
		return nil, true
	}
	if name >= 0 {
		if !s.allowedName(state, name) {
			return nil, false
		}
		return s.enter(state, name, 0), false
	}
	return s.enter(state, -1, matching), true
}

// withFree returns the state with a further key that isn't a name; ok is
// false when the key has been read before.
func (s *source) withFree(state int32, key string) (next int32, ok bool) {
	t := &s.objects
	x := t.states.keys[state]
	id := s.nameID(key)
	for l := x.free; l != 0; l = t.freeLists[l].parent {
		if t.freeLists[l].name == id {
			return 0, false
		}
	}
	fk := freeKey{x.free, id}
	i, known := t.freeIndex[fk]
	if !known {
		i = int32(len(t.freeLists))
		t.freeLists = append(t.freeLists, fk)
		t.freeIndex[fk] = i
	}
	x.free = i
	return s.intern(x), true
}
