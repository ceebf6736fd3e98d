package schema

import (
	"container/heap"
	"slices"
	"strings"

	"stencil/decoder"
	"stencil/schema/jsondoc"
	"stencil/schema/spelling"
	"stencil/schema/syntax"
)

// finish is a short value that fulfils a goal. Lengths are those of the
// compact layout.
type finish struct {
	size    int
	scalar  string
	array   bool
	object  bool
	items   []goal
	members []finishMember
}

type finishMember struct {
	key string
	g   goal
}

// maxShortest bounds the shortest document.
const maxShortest = 16 << 20

// noFinish is the size of what can't be finished.
const noFinish = syntax.MaxCount

// unfinished stands for a goal while its shortest value is looked for.
var unfinished = &finish{size: noFinish}

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

	known     map[goal]*finish
	witnesses map[int32]*witness // by object state
	cuts      int                // how often a shortest value was needed while it was looked for
}

func newShortest(b *base, sets *keySets, vs *views, nums *numbers, ts *texts, keys *keyAutomaton, obj *objects, next *nextKeys, arr *arrays) *shortest {
	return &shortest{base: b, sets: sets, views: vs, numbers: nums, texts: ts, keys: keys, objects: obj, next: next, arrays: arr,
		known: map[goal]*finish{}, witnesses: map[int32]*witness{}}
}

// value returns a shortest value that fulfils g, or a short one where
// an object leaves many choices. Values that contain a value for the same goal
// are never shorter, so recursion is cut there.
func (sh *shortest) value(g goal) *finish {
	if f, ok := sh.known[g]; ok {
		if f == unfinished {
			sh.cuts++
		}
		return f
	}
	if g == always {
		f := &finish{size: 1, scalar: "0"}
		sh.known[g] = f
		return f
	}
	sh.known[g] = unfinished
	best := &finish{size: noFinish}
	scalar := func(text string) {
		if len(text) < best.size {
			best = &finish{size: len(text), scalar: text}
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
	for _, a := range sh.numbers.automataOf(form(sh.views.of(g, jNumber))) {
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
				best = &finish{size: size + 1, array: true, items: items}
			}
		}
	}
	if best.size > 2 {
		if st := sh.objects.start(g); st >= 0 {
			if members, size := sh.object(st, true); size+1 < best.size {
				best = &finish{size: size + 1, object: true, members: members}
			}
		}
	}
	if best.size != noFinish && best.size > maxShortest {
		sh.limit("bytes in the shortest document", maxShortest)
		best = &finish{size: noFinish}
	}
	if best.size == noFinish {
		delete(sh.known, g)
	} else {
		sh.known[g] = best
	}
	return best
}

// array returns goals of items that complete an array in a state, and
// the size of the rest with the closing bracket.
func (sh *shortest) array(state int32) ([]goal, int) {
	type path struct {
		state int32
		size  int
		g     goal  // the last item
		up    int32 // the path before it
	}
	// The queue is a heap of paths by size.
	paths := []path{{state: state, size: 1, up: -1}}
	queue := finishQueue{{size: 1}}
	visited := map[int32]bool{}
	for steps := 0; len(queue) > 0 && steps < syntax.MaxMinItems+maxLookahead && sh.err == nil; steps++ {
		at := heap.Pop(&queue).(finishPath)
		p := paths[at.path]
		if visited[p.state] {
			continue
		}
		visited[p.state] = true
		if sh.forms.final(sh.arrays.states[p.state].f) {
			var items []goal
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
			n := sh.value(m.g).size
			if n == noFinish {
				continue
			}
			next := m.next
			if sh.arrays.isUnique(sh.arrays.states[next].f) {
				v, err := syntax.ReadJSON(sh.render(m.g, 0), sh.opt.Limits.Depth)
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
				return nil, noFinish
			}
			heap.Push(&queue, finishPath{size, int32(len(paths))})
			paths = append(paths, path{next, size, m.g, int32(at.path)})
		}
	}
	return nil, noFinish
}

type finishPath struct {
	size int
	path int32
}

// finishQueue implements [heap.Interface]. Of paths of the same size the last
// comes first: it is the longest.
type finishQueue []finishPath

func (q finishQueue) Len() int { return len(q) }
func (q finishQueue) Less(i, j int) bool {
	return q[i].size < q[j].size || q[i].size == q[j].size && q[i].path > q[j].path
}
func (q finishQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *finishQueue) Push(x any)   { *q = append(*q, x.(finishPath)) }
func (q *finishQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// render writes a shortest value for g in the layout asked for.
func (sh *shortest) render(g goal, depth int16) string {
	f := sh.value(g)
	switch {
	case f.array:
		if len(f.items) == 0 {
			return "[]"
		}
		return "[" + sh.renderItems(f.items, depth, true)
	case f.object:
		if len(f.members) == 0 {
			return "{}"
		}
		return "{" + sh.renderMembers(f.members, depth, true)
	}
	return f.scalar
}

// renderItems writes items and the closing bracket.
func (sh *shortest) renderItems(items []goal, depth int16, open bool) string {
	var b strings.Builder
	for i, g := range items {
		if i > 0 || !open {
			b.WriteByte(',')
		}
		if sh.pretty() {
			b.WriteString(newline(depth + 1))
		}
		b.WriteString(sh.render(g, sh.inner(depth)))
	}
	if sh.pretty() {
		b.WriteString(newline(depth))
	}
	b.WriteByte(']')
	return b.String()
}

// renderMembers writes members and the closing brace.
func (sh *shortest) renderMembers(members []finishMember, depth int16, open bool) string {
	var b strings.Builder
	for i, m := range members {
		if i > 0 || !open {
			b.WriteByte(',')
		}
		if sh.pretty() {
			b.WriteString(newline(depth + 1))
		}
		b.Write(jsondoc.AppendQuoted(nil, m.key))
		b.WriteString(sh.colon())
		b.WriteString(sh.render(m.g, sh.inner(depth)))
	}
	if sh.pretty() {
		b.WriteString(newline(depth))
	}
	b.WriteByte('}')
	return b.String()
}

func (b *base) colon() string {
	if b.pretty() {
		return ": "
	}
	return ":"
}

// Finish implements [decoder.Source].
func (s *source) Finish(f decoder.Frame) []byte {
	k := s.frames.keys[f]
	text := s.finish(k)
	if text == "" && k.kind != frameEnd && k.kind != frameNumber {
		return nil
	}
	return []byte(text)
}

// finish returns the text that ends a frame. It is empty where there is none,
// and at the end of the document or of a number.
func (s *source) finish(k frameKey) string {
	switch k.kind {
	case frameRoot, frameValue:
		return s.shortest.render(goal(k.a), k.depth)
	case frameText:
		return s.frames.texts[k.a][k.b:]
	case frameNumber:
		return string(s.numbers.list[k.a].Shortest(k.b))
	case frameString:
		t := s.stringText(k.a, k.b)
		lead, q := spelling.FinishCharacter(t, k.b, k.c)
		quoted := jsondoc.AppendQuoted(nil, s.texts.machines[k.a].Shortest(q))
		return lead + string(quoted[1:])
	case frameArrOpen:
		items, size := s.shortest.array(k.a)
		switch {
		case size == noFinish:
			return ""
		case len(items) == 0:
			return "]"
		}
		return s.shortest.renderItems(items, k.depth, true)
	case frameArrAfter, frameArrItem:
		items, size := s.shortest.array(k.a)
		if size == noFinish {
			return ""
		}
		return s.shortest.renderItems(items, k.depth, false)
	case frameObjOpen:
		members, size := s.shortest.object(k.a, true)
		switch {
		case size == noFinish:
			return ""
		case len(members) == 0:
			return "}"
		}
		return s.shortest.renderMembers(members, k.depth, true)
	case frameObjAfter:
		members, size := s.shortest.object(k.a, false)
		if size == noFinish {
			return ""
		}
		return s.shortest.renderMembers(members, k.depth, false)
	case frameColon:
		return s.colon()
	case frameObjComma:
		if rest := s.finishKey(frameKey{kind: frameObjKey, depth: k.depth, a: k.a, b: s.next.before(k.a)}); rest != "" {
			return `"` + rest
		}
		return ""
	case frameObjKey:
		return s.finishKey(k)
	}
	return ""
}

// finishKey completes a key, its value and the object.
func (s *source) finishKey(k frameKey) string {
	t := &keyText{s: s, depth: k.depth, state: k.a, key: k.b}
	lead, key := spelling.FinishCharacter(t, k.b, k.c)
	ks := s.keys.states.keys[key]
	fam := s.keys.families[ks.fam]
	best, size := "", noFinish
	try := func(rest string, m move, free bool) {
		n := s.shortest.value(m.g).size
		_, tail := s.shortest.object(m.next, false)
		if total := len(rest) + n + tail; n != noFinish && tail != noFinish && total < size {
			size = total
			best = lead + rest + `"` + s.colon() + s.shortest.render(m.g, s.inner(k.depth)) + s.finish(frameKey{kind: frameObjAfter, depth: k.depth, a: m.next})
		}
	}
	missing := s.objects.missing(&s.objects.states.keys[k.a])
	tried := 0
	// Names that have to come first: one of them is never worse.
	for pass := 0; pass < 2 && tried == 0; pass++ {
		for i := ks.lo; i < ks.hi && tried < 8; i++ {
			n := fam.sorted[i]
			if !s.objects.allowedName(k.a, n) || pass == 0 && missing[n>>6]>>(n&63)&1 == 0 {
				continue
			}
			tried++
			rest := string(jsondoc.AppendQuoted(nil, s.keys.nameAt(fam, i)[ks.depth:]))
			for _, m := range s.objects.enter(k.a, n, 0) {
				try(rest[1:len(rest)-1], m, false)
			}
		}
	}
	if tried == 0 || size == noFinish {
		allowed := func(matching uint64) bool { return s.objects.allowedFree(k.a, matching) }
		alive := func(key int32) bool { return s.next.free(k.a, key) }
		if text, matching, ok := s.shortest.freshKey(key, key != s.next.before(k.a), allowed, alive); ok {
			rest := string(jsondoc.AppendQuoted(nil, text))
			for _, m := range s.objects.enter(k.a, -1, matching) {
				try(rest[1:len(rest)-1], m, true)
			}
		}
	}
	return best
}
