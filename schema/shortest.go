package schema

import (
	"slices"
	"strings"

	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/schema/layout"
	"github.com/stencil-json/stencil/schema/logic"
	"github.com/stencil-json/stencil/schema/syntax"
)

// shortValue is a short value that fulfils a goal. Lengths are those of the compact
// layout.
type shortValue struct {
	size    int
	scalar  string
	array   bool
	object  bool
	items   []logic.Goal
	members []shortMember
}

type shortMember struct {
	key string
	g   logic.Goal
}

// maxShortest bounds the size of the shortest document.
const maxShortest = 16 << 20

// noValue is the size of a value or an end that does not exist.
const noValue = syntax.MaxCount

// unfinished stands for a goal while its shortest value is being computed.
var unfinished = &shortValue{size: noValue}

// shortest finds short values for goals, and short ends for objects and arrays.
type shortest struct {
	*base
	sets    *keySets
	views   *views
	numbers *numbers
	texts   *texts
	keys    *keyAutomaton
	objects *objects
	next    *nextKeys
	arrays  *arrays

	known logic.Memo[logic.Goal, *shortValue]
	ends  logic.Memo[int32, *objectEnd] // by object state
	lists logic.Memo[logic.Form, shortItems]
	cuts  int // how often a shortest value was needed while it was being computed
}

func newShortest(b *base, sets *keySets, vs *views, nums *numbers, ts *texts, keys *keyAutomaton, obj *objects, next *nextKeys, arr *arrays) *shortest {
	return &shortest{base: b, sets: sets, views: vs, numbers: nums, texts: ts, keys: keys, objects: obj, next: next, arrays: arr}
}

// value returns a shortest value that fulfils g, or merely a short one if an object
// leaves many choices. Values that contain a value for the same goal are never shorter,
// so recursion stops there.
func (sh *shortest) value(g logic.Goal) *shortValue {
	if f, ok := sh.known[g]; ok {
		if f == unfinished {
			sh.cuts++
		}
		return f
	}
	if g == logic.Always {
		f := &shortValue{size: 1, scalar: "0"}
		sh.known.Put(g, f)
		return f
	}
	sh.goals.Meter.Step(8)
	sh.known.Put(g, unfinished)
	best := &shortValue{size: noValue}
	scalar := func(text string) {
		if len(text) < best.size {
			best = &shortValue{size: len(text), scalar: text}
		}
	}
	sc := sh.views.of(g, jScalar)
	if sc&scalarNull != 0 {
		scalar("null")
	}
	if sc&scalarTrue != 0 {
		scalar("true")
	}
	if sc&scalarFalse != 0 {
		scalar("false")
	}
	for _, a := range sh.numbers.automataOf(logic.Form(sh.views.of(g, jNumber))) {
		scalar(string(a.Shortest(a.Start())))
	}
	if m := sh.texts.of(g); m >= 0 {
		x := sh.texts.machines[m]
		if x.Least(x.Start()) > maxShortest/8 {
			sh.limit("characters in the shortest string", maxShortest/8)
		} else {
			scalar(string(jsondoc.AppendQuoted(nil, x.Shortest(x.Start()))))
		}
	}
	if best.size > 2 {
		if st := sh.arrays.start(g); st >= 0 {
			if items, size := sh.array(st); size+1 < best.size {
				best = &shortValue{size: size + 1, array: true, items: items}
			}
		}
	}
	if best.size > 2 {
		if st := sh.objects.start(g); st >= 0 {
			if members, size := sh.object(st, true); size+1 < best.size {
				best = &shortValue{size: size + 1, object: true, members: members}
			}
		}
	}
	if best.size != noValue && best.size > maxShortest {
		sh.limit("bytes in the shortest document", maxShortest)
		best = &shortValue{size: noValue}
	}
	if best.size == noValue {
		delete(sh.known, g)
	} else {
		sh.known.Put(g, best)
	}
	return best
}

// array returns the goals of items that complete an array in a state, and the size of
// the rest with the closing bracket.
func (sh *shortest) array(state int32) ([]logic.Goal, int) {
	f := sh.arrays.states[state].f
	unique := sh.arrays.isUnique(f)
	if items, size, known := sh.leastItems(f); known && !unique {
		return items, size
	}
	// Items that have to differ are chosen one by one.
	type path struct {
		state int32
		size  int
		g     logic.Goal // the last item
		up    int32      // the path before it
	}
	// Of paths of the same size, the newest comes first: it is the longest.
	paths := []path{{state: state, size: 1, up: -1}}
	queue := logic.NewQueue(func(p, q shortPath) bool { return p.size < q.size || p.size == q.size && p.path > q.path })
	queue.Push(shortPath{size: 1})
	left := func(state int32) int {
		if _, size, known := sh.leastItems(sh.arrays.states[state].f); known && unique {
			return size
		}
		return 0
	}
	visited := map[int32]bool{}
	cuts := sh.cuts
	for steps := 0; queue.Len() > 0 && steps < syntax.MaxMinItems+maxLookahead && sh.err == nil; steps++ {
		at := queue.Pop()
		p := paths[at.path]
		if visited[p.state] {
			continue
		}
		visited[p.state] = true
		if sh.forms.Final(sh.arrays.states[p.state].f) {
			var items []logic.Goal
			var on []path // the path to here
			for end := p; ; p = paths[p.up] {
				on = append(on, path{p.state, 1 + end.size - p.size, p.g, 0})
				if p.up < 0 {
					break
				}
				items = append(items, p.g)
			}
			slices.Reverse(items)
			slices.Reverse(on)
			for i := range on {
				if on[i].size > 1 {
					on[i].size--
				}
				if !unique && sh.cuts == cuts { // the rest of a shortest path is a shortest one too
					sh.lists.Put(sh.arrays.states[on[i].state].f, shortItems{items[i:], on[i].size, true})
				}
			}
			return items, on[0].size
		}
		for _, m := range sh.arrays.itemMoves(p.state) {
			sh.goals.Meter.Step(1)
			n := sh.value(m.g).size
			if n == noValue {
				continue
			}
			next := m.next
			if sh.arrays.isUnique(sh.arrays.states[next].f) {
				v, err := syntax.ReadJSON(sh.render(m.g, sh.place()), sh.opt.Limits.Depth)
				if err != nil {
					continue
				}
				var ok bool
				if next, ok = sh.arrays.withItem(next, v); !ok {
					continue
				}
			}
			size := p.size + n + 1
			if size > maxShortest {
				sh.limit("bytes in the shortest document", maxShortest)
				return nil, noValue
			}
			queue.Push(shortPath{size + left(next), int32(len(paths))})
			paths = append(paths, path{next, size, m.g, int32(at.path)})
		}
	}
	return nil, noValue
}

// maxArrayBranches is the number of alternatives of an array's form that are compared.
const maxArrayBranches = 64

// leastItems returns the shortest items that fulfil f, ignoring that they may have to
// differ, and their size with the closing bracket.
func (sh *shortest) leastItems(f logic.Form) ([]logic.Goal, int, bool) {
	if old, ok := sh.lists[f]; ok {
		return old.items, old.size, old.known
	}
	cuts := sh.cuts
	best := shortItems{size: noValue, known: true}
	steps, branches := sh.opt.Limits.Steps, 0
	if !sh.forms.Branches(f, &steps, func(lits []logic.Lit) bool {
		s, ok := sh.arrays.search(slices.DeleteFunc(slices.Clone(lits), func(l logic.Lit) bool { return l.Kind == logic.Unique }), 0)
		if !ok {
			return true
		}
		items, size, known := s.arrange(func(g logic.Goal) int { return sh.value(g).size })
		if branches++; !known || branches > maxArrayBranches {
			best.known = false
			return false
		}
		if size > maxShortest && len(items) > 0 {
			sh.limit("bytes in the shortest document", maxShortest)
		}
		if size++; size < best.size {
			if len(items) > 0 {
				size--
			}
			best.items, best.size = items, size
		}
		return true
	}) {
		best.known = false
	}
	if sh.cuts == cuts {
		sh.lists.Put(f, best)
	}
	return best.items, best.size, best.known
}

// shortItems are the shortest items for a form, if known.
type shortItems struct {
	items []logic.Goal
	size  int
	known bool
}

type shortPath struct {
	size int
	path int32
}

// render writes a shortest value for g in the layout of the options.
func (sh *shortest) render(g logic.Goal, at layout.Place) string {
	f := sh.value(g)
	sh.goals.Meter.Step(1)
	switch {
	case f.array:
		if len(f.items) == 0 {
			return "[]"
		}
		return "[" + sh.renderItems(f.items, at, listOpen)
	case f.object:
		if len(f.members) == 0 {
			return "{}"
		}
		return "{" + sh.renderMembers(f.members, at, listOpen)
	}
	return f.scalar
}

// listPlace is the position of the remaining parts in a container.
type listPlace uint8

const (
	listOpen  listPlace = iota // after the opening bracket
	listBegun                  // after the whitespace that follows it
	listMore                   // after a part
)

// renderItems writes items and the closing bracket.
func (sh *shortest) renderItems(items []logic.Goal, at layout.Place, from listPlace) string {
	return sh.renderList(len(items), at, from, ']', func(b *strings.Builder, i int, at layout.Place) layout.Place {
		b.WriteString(sh.render(items[i], at.Value()))
		return at
	})
}

// renderMembers writes members and the closing brace.
func (sh *shortest) renderMembers(members []shortMember, at layout.Place, from listPlace) string {
	return sh.renderList(len(members), at, from, '}', func(b *strings.Builder, i int, at layout.Place) layout.Place {
		m, colon := members[i], at.Colons()[0]
		b.Write(jsondoc.AppendQuoted(nil, m.key))
		b.WriteString(colon.Text)
		b.WriteString(sh.render(m.g, colon.Place.Value()))
		return colon.Place
	})
}

// renderList writes n parts in the shortest layout that is still possible, and the
// closing byte.
func (sh *shortest) renderList(n int, at layout.Place, from listPlace, closing byte, part func(b *strings.Builder, i int, at layout.Place) layout.Place) string {
	var b strings.Builder
	for i := range n {
		var c layout.Choice
		switch {
		case i > 0 || from == listMore:
			c = at.Commas()[0]
		case from == listOpen:
			list, _ := at.Openings()
			c = list[0]
		default:
			c.Place = at
		}
		b.WriteString(c.Text)
		at = part(&b, i, c.Place)
	}
	if n > 0 || from != listOpen {
		b.WriteString(at.Closing())
	}
	b.WriteByte(closing)
	return b.String()
}
