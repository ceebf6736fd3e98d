package schema

import (
	"slices"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/tokens"
	"github.com/stencil-json/stencil/vocab"
)

// closerGroup is a group of closers that end a key in the same way.
type closerGroup struct {
	name     int32
	matching uint64
	only     vocab.Bitset // nil: all closers
	few      []int32      // if not nil: the closers, instead of only
}

// fewClosers is the number of closers up to which a group is a list.
const fewClosers = 6

// groupKey is a key state and a table of closers.
type groupKey struct {
	key   int32
	table *tokens.Closers
}

// keyExits adds an exit for each possible meaning of the end of a key.
func (pr *preparer) keyExits(k frameKey, t *tokens.Closers, p *decoder.Prepared) {
	at := groupKey{k.b, t}
	groups, ok := pr.closerGroups[at]
	if !ok {
		groups = pr.groupClosers(k.b, t)
		pr.closerGroups.Put(at, groups)
	}
	pending := pr.objects.states.Keys[k.a].pending
	for _, g := range groups {
		if g.name == takenKey || g.name >= 0 && !pr.objects.allowedName(k.a, g.name) {
			continue
		}
		moves := pr.objects.enter(k.a, g.name, g.matching)
		colons := k.at.Colons()
		p.Overlap = p.Overlap || len(moves)*len(colons) > 1
		for _, m := range moves {
			next := m.next
			if g.name < 0 {
				x := pr.objects.states.Keys[m.next]
				x.pending = true
				next = pr.objects.intern(x)
			}
			for _, c := range colons {
				exit := t.Exit(g.only)
				exit.Few, exit.Rests = g.few, t.Rests
				exit.Doubt = g.name < 0 && pending
				exit.Frames = pr.frames.memberFrames(c, m.g, next)
				p.Exits = append(p.Exits, exit)
			}
		}
	}
}

func (pr *preparer) groupClosers(key int32, t *tokens.Closers) []closerGroup {
	ks := pr.keys.states.Keys[key]
	uni := pr.keys.universes[ks.uni]
	n := len(t.Rests)
	if len(uni.pats) == 0 {
		// All closers end a key that isn't a name, except those that complete a
		// name.
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
			if rest := pr.keys.nameAt(uni, i)[ks.depth:]; len(rest) <= 4*t.Longest {
				add(uni.sorted[i], rest)
			}
		}
		for _, id := range pr.keys.takenLists.All[ks.taken] {
			if rest := pr.sets.names[id]; len(rest) >= int(ks.depth) {
				add(takenKey, rest[ks.depth:])
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

// takenIsAll reports whether some taken key has a prefix, longer than the key
// so far, that can only be completed to taken keys.
func (pr *preparer) takenIsAll(k frameKey) bool {
	ks := pr.keys.states.Keys[k.b]
	for _, id := range pr.keys.takenLists.All[ks.taken] {
		key := k.b
		for _, r := range pr.sets.names[id][ks.depth:] {
			if key = pr.keys.step(key, r); !pr.next.alive(k.a, key) {
				return true
			}
		}
	}
	return false
}

// manyKeys is a number of keys that no document exceeds.
const manyKeys = 10000

// prepareKey is Prepare for the inside of a key, whose end can have several
// meanings.
func (pr *preparer) prepareKey(f decoder.Frame, k frameKey, t *tokens.Tables) *decoder.Prepared {
	ks := pr.keys.states.Keys[k.b]
	p := &decoder.Prepared{}
	switch {
	case ks.free == 0 && pr.next.free(k.a, k.b):
		p.Base = t.StrictStay
	case ks.free == 0 || ks.at == regular.Dead:
		list, ok := pr.namesAlong(k, t.Vocab.Trie(), -1, nil)
		if !ok {
			return nil
		}
		p.Extra = list
	default:
		// The tokens inside the language of the keys other than names, and
		// those that continue a name outside that language.
		m := pr.texts.machines[ks.free-1]
		if ks.taken != 0 && (m.Count(ks.at, manyKeys) < manyKeys || pr.takenIsAll(k)) {
			return nil // some prefixes can only be completed to taken keys
		}
		l := t.InKey(m, ks.at)
		p.Base, p.Extra = l.Base, l.Extra
		if l.Irregular {
			p.Exits = append(p.Exits, decoder.Exit{Frames: []decoder.Frame{f}, Trie: t.Strings.Irregular})
		}
		if ks.lo < ks.hi {
			list, ok := pr.namesAlong(k, t.Strings.PlainTrie, -1, nil)
			if !ok {
				return nil
			}
			p.Extra = slices.Clone(p.Extra)
			for _, tok := range list {
				if !(l.Base != nil && l.Base.Has(tok)) && !slices.Contains(l.Extra, tok) {
					p.Extra = append(p.Extra, tok)
				}
			}
		}
	}
	pr.keyExits(k, t.StrictClosers, p)
	return p
}

// namesAlong appends the values below a node of a trie (-1: the root) whose
// text is a prefix of the rest of a name that may come. ok is false if a name
// contains characters that need an escape.
func (pr *preparer) namesAlong(k frameKey, trie *vocab.Trie, node int32, list []int32) (out []int32, ok bool) {
	ks := pr.keys.states.Keys[k.b]
	uni := pr.keys.universes[ks.uni]
	var along func(ks keyState, node int32)
	ok = true
	along = func(ks keyState, node int32) {
		for i := ks.lo; i < ks.hi && ok; {
			name := pr.keys.nameAt(uni, i)
			if len(name) == int(ks.depth) || !pr.objects.allowedName(k.a, uni.sorted[i]) {
				i++
				continue
			}
			b := name[ks.depth]
			if b < 0x20 || b == '"' || b == '\\' {
				ok = false
				return
			}
			// All names that continue with b are adjacent.
			next := ks
			next.lo, next.depth = i, ks.depth+1
			for i++; i < ks.hi && pr.keys.nameAt(uni, i)[ks.depth] == b; i++ {
			}
			next.hi = i
			child := int32(-1)
			if node < 0 {
				child = trie.Child[b]
			} else {
				end := trie.Nodes[node].End
				for c := node + 1; c < end; c = trie.Nodes[c].End {
					if trie.Nodes[c].Byte >= b {
						if trie.Nodes[c].Byte == b {
							child = c
						}
						break
					}
				}
			}
			if child >= 0 {
				list = append(list, trie.At(child)...)
				along(next, child)
			}
		}
	}
	along(ks, node)
	return list, ok
}
