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
func (pr *preparer) keyExits(k frameKey, t *tokens.Closers, p *decoder.Prepared) {
	at := groupKey{k.b, t}
	groups, ok := pr.closerGroups[at]
	if !ok {
		groups = pr.groupClosers(k.b, t)
		pr.closerGroups[at] = groups
	}
	pending := pr.objects.states.keys[k.a].pending
	for _, g := range groups {
		if g.name == taken || g.name >= 0 && !pr.objects.allowedName(k.a, g.name) {
			continue
		}
		moves := pr.objects.enter(k.a, g.name, g.matching)
		p.Overlap = p.Overlap || len(moves) > 1
		for _, m := range moves {
			next := m.next
			if g.name < 0 {
				x := pr.objects.states.keys[m.next]
				x.pending = true
				next = pr.objects.intern(x)
			}
			exit := t.Exit(g.only)
			exit.Few, exit.Rests = g.few, t.Rests
			exit.Doubt = g.name < 0 && pending
			exit.Frames = pr.frames.memberFrames(k.depth, m.g, next)
			p.Exits = append(p.Exits, exit)
		}
	}
}

func (pr *preparer) groupClosers(key int32, t *tokens.Closers) []closerGroup {
	ks := pr.keys.states.keys[key]
	fam := pr.keys.families[ks.fam]
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
			if rest := pr.keys.nameAt(fam, i)[ks.depth:]; len(rest) <= 4*t.Longest {
				add(fam.sorted[i], rest)
			}
		}
		for _, id := range pr.keys.takenLists[ks.taken] {
			if rest := pr.sets.names[id]; len(rest) >= int(ks.depth) {
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
		c.name, c.matching = pr.keys.end(key)
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
	pr.keys.along(t.Before, key, add)
	for i := range groups {
		if g := &groups[i]; g.only.Count() <= fewClosers {
			g.few = g.only.AppendTo(nil)
		}
	}
	return groups
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

// settled reports whether a key is of the same class however it goes on.
func (ka *keyAutomaton) settled(key int32) bool {
	k := ka.states.keys[key]
	if k.lo < k.hi || k.taken != 0 {
		return false
	}
	if k.free != 0 && k.at == regular.Dead {
		return true
	}
	ok, known := ka.settledVectors[k.vec]
	if !known {
		ok = true
		fam := ka.families[k.fam]
		for i, q := range ka.vectors[k.vec] {
			if q != regular.Dead {
				m := ka.sets.patterns[fam.pats[i]].machine
				n, any := m.Room(q)
				ok = ok && any && n < 0 && m.Accepting(q)
			}
		}
		ka.settledVectors[k.vec] = ok
	}
	return ok
}
