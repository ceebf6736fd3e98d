package schema

import (
	"container/heap"
	"slices"
	"strings"

	"stencil/schema/jsondoc"
	"stencil/schema/layout"
	"stencil/schema/logic"
	"stencil/schema/syntax"
)

// shortValue is a short value that fulfils a goal. Lengths are those of the
// compact layout.
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

// maxShortest bounds the shortest document.
const maxShortest = 16 << 20

// noValue is the size of what can't be finished.
const noValue = syntax.MaxCount

// unfinished stands for a goal while its shortest value is looked for.
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

	known map[logic.Goal]*shortValue
	ends  map[int32]*objectEnd // by object state
	cuts  int                  // how often a shortest value was needed while it was looked for
}

func newShortest(b *base, sets *keySets, vs *views, nums *numbers, ts *texts, keys *keyAutomaton, obj *objects, next *nextKeys, arr *arrays) *shortest {
	return &shortest{base: b, sets: sets, views: vs, numbers: nums, texts: ts, keys: keys, objects: obj, next: next, arrays: arr,
		known: map[logic.Goal]*shortValue{}, ends: map[int32]*objectEnd{}}
}

// value returns a shortest value that fulfils g, or a short one where
// an object leaves many choices. Values that contain a value for the same goal
// are never shorter, so recursion is cut there.
func (sh *shortest) value(g logic.Goal) *shortValue {
	if f, ok := sh.known[g]; ok {
		if f == unfinished {
			sh.cuts++
		}
		return f
	}
	if g == logic.Always {
		f := &shortValue{size: 1, scalar: "0"}
		sh.known[g] = f
		return f
	}
	sh.goals.Meter.Step(8)
	sh.known[g] = unfinished
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
		sh.known[g] = best
	}
	return best
}

// array returns goals of items that complete an array in a state, and
// the size of the rest with the closing bracket.
func (sh *shortest) array(state int32) ([]logic.Goal, int) {
	type path struct {
		state int32
		size  int
		g     logic.Goal // the last item
		up    int32      // the path before it
	}
	// The queue is a heap of paths by size.
	paths := []path{{state: state, size: 1, up: -1}}
	queue := shortQueue{{size: 1}}
	visited := map[int32]bool{}
	for steps := 0; len(queue) > 0 && steps < syntax.MaxMinItems+maxLookahead && sh.err == nil; steps++ {
		at := heap.Pop(&queue).(shortPath)
		p := paths[at.path]
		if visited[p.state] {
			continue
		}
		visited[p.state] = true
		if sh.forms.Final(sh.arrays.states[p.state].f) {
			var items []logic.Goal
			for ; p.up >= 0; p = paths[p.up] {
				items = append(items, p.g)
			}
			slices.Reverse(items)
			if len(items) > 0 {
				at.size--
			}
			return items, at.size
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
			heap.Push(&queue, shortPath{size, int32(len(paths))})
			paths = append(paths, path{next, size, m.g, int32(at.path)})
		}
	}
	return nil, noValue
}

type shortPath struct {
	size int
	path int32
}

// shortQueue implements [heap.Interface]. Of paths of the same size the last
// comes first: it is the longest.
type shortQueue []shortPath

func (q shortQueue) Len() int { return len(q) }

func (q shortQueue) Less(i, j int) bool {
	return q[i].size < q[j].size || q[i].size == q[j].size && q[i].path > q[j].path
}

func (q shortQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *shortQueue) Push(x any) { *q = append(*q, x.(shortPath)) }

func (q *shortQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// render writes a shortest value for g in the layout asked for.
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

// listPlace says where in a container the parts that are left come.
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

// renderList writes n parts in the shortest layout that is left, and the closing
// byte.
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
