package schema

import (
	"slices"
	"unicode/utf8"

	"stencil/decoder"
	"stencil/regular"
	"stencil/schema/spelling"
	"stencil/schema/tokens"
	"stencil/vocab"
)

// closerGroup is the closers that end a key in the same way.
type closerGroup struct {
	name     int32
	matching uint64
	only     vocab.Bitset // nil: all closers
	few      []int32      // if not nil: the closers, instead of only
}

// fewClosers is the number of closers up to which a group is a list.
const fewClosers = 6

// groupKey is a place in a key and a table of closers.
type groupKey struct {
	key   int32
	table *tokens.Closers
}

// keyExits adds an exit for each thing that the end of a key can mean.
func (s *source) keyExits(k frameKey, t *tokens.Closers, p *decoder.Prepared) {
	at := groupKey{k.b, t}
	groups, ok := s.closerGroups[at]
	if !ok {
		groups = s.groupClosers(k.b, t)
		s.closerGroups[at] = groups
	}
	pending := s.objects.states.keys[k.a].pending
	for _, g := range groups {
		if g.name == taken || g.name >= 0 && !s.allowedName(k.a, g.name) {
			continue
		}
		moves := s.enter(k.a, g.name, g.matching)
		p.Overlap = p.Overlap || len(moves) > 1
		for _, m := range moves {
			next := m.next
			if g.name < 0 {
				x := s.objects.states.keys[m.next]
				x.pending = true
				next = s.intern(x)
			}
			exit := t.Exit(g.only)
			exit.Few, exit.Rests = g.few, t.Rests
			exit.Doubt = g.name < 0 && pending
			exit.Frames = s.memberFrames(k.depth, m.g, next)
			p.Exits = append(p.Exits, exit)
		}
	}
}

func (s *source) groupClosers(key int32, t *tokens.Closers) []closerGroup {
	ks := s.objects.keyStates.keys[key]
	fam := s.objects.families[ks.fam]
	n := len(t.Rests)
	if len(fam.pats) == 0 {
		// All closers end a key that isn't a name, but for those that spell
		// the rest of one.
		groups := []closerGroup{{name: -1}}
		add := func(name int32, rest string) {
			list := t.ByPrefix[rest]
			if len(list) == 0 {
				return
			}
			if groups[0].only == nil {
				groups[0].only = slices.Clone(t.All)
			}
			g := closerGroup{name: name}
			if len(list) <= fewClosers {
				g.few = list
			} else {
				g.only = vocab.NewBitset(n)
			}
			for _, c := range list {
				groups[0].only.Clear(c)
				if g.only != nil {
					g.only.Set(c)
				}
			}
			groups = append(groups, g)
		}
		for i := ks.lo; i < ks.hi; i++ {
			if rest := s.nameAt(fam, i)[ks.depth:]; len(rest) <= 4*t.Longest {
				add(fam.sorted[i], rest)
			}
		}
		for _, id := range s.objects.takenLists[ks.taken] {
			if rest := s.names[id]; len(rest) >= int(ks.depth) {
				add(taken, rest[ks.depth:])
			}
		}
		return groups
	}
	type class struct {
		name     int32
		matching uint64
	}
	index := map[class]int{}
	var groups []closerGroup
	add := func(key int32, list []int32) {
		if len(list) == 0 {
			return
		}
		var c class
		c.name, c.matching = s.keyEnd(key)
		j, ok := index[c]
		if !ok {
			j = len(groups)
			index[c] = j
			groups = append(groups, closerGroup{name: c.name, matching: c.matching, only: vocab.NewBitset(n)})
		}
		for _, i := range list {
			groups[j].only.Set(i)
		}
	}
	add(key, t.First)
	s.alongKeys(t.Before, key, add)
	for i := range groups {
		if g := &groups[i]; g.only.Count() <= fewClosers {
			g.few = g.only.AppendTo(nil)
		}
	}
	return groups
}

// alongKeys calls yield with the values of a trie and the key state that
// their text leads to.
func (s *source) alongKeys(trie *vocab.Trie, key int32, yield func(key int32, values []int32)) {
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
				at.key = s.keyStep(at.key, at.rune)
			}
		case b < utf8.RuneSelf:
			at.key = s.keyStep(at.key, rune(b))
		default:
			more, bits := spelling.LeadByte(b)
			at.rune, at.more = rune(bits), int8(more)
		}
		if at.more == 0 && s.settled(at.key) {
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

// settled reports whether a key is of the same class however it goes on.
func (s *source) settled(key int32) bool {
	k := s.objects.keyStates.keys[key]
	if k.lo < k.hi || k.taken != 0 {
		return false
	}
	if k.free != 0 && k.at == regular.Dead {
		return true
	}
	ok, known := s.objects.settled[k.vec]
	if !known {
		ok = true
		fam := s.objects.families[k.fam]
		for i, q := range s.objects.vectors[k.vec] {
			if q != regular.Dead {
				m := s.patterns[fam.pats[i]].machine
				n, any := m.Room(q)
				ok = ok && any && n < 0 && m.Accepting(q)
			}
		}
		s.objects.settled[k.vec] = ok
	}
	return ok
}
