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

// shortestValue returns a shortest value that fulfils g, or a short one where
// an object leaves many choices. Values that contain a value for the same goal
// are never shorter, so recursion is cut there.
func (s *source) shortestValue(g goal) *finish {
	if f, ok := s.shortest[g]; ok {
		if f == unfinished {
			s.cuts++
		}
		return f
	}
	if g == always {
		f := &finish{size: 1, scalar: "0"}
		s.shortest[g] = f
		return f
	}
	s.shortest[g] = unfinished
	best := &finish{size: noFinish}
	scalar := func(text string) {
		if len(text) < best.size {
			best = &finish{size: len(text), scalar: text}
		}
	}
	sc := s.view(g, jScalar)
	if sc&scalarNull != 0 {
		scalar("null")
	}
	if sc&scalarTrue != 0 {
		scalar("true")
	}
	if sc&scalarFalse != 0 {
		scalar("false")
	}
	for _, a := range s.numbers(form(s.view(g, jNumber))) {
		scalar(string(a.Shortest(a.Start())))
	}
	if m := s.text(g); m >= 0 {
		x := s.machines[m]
		if x.Least(x.Start()) > maxShortest/8 {
			s.limit("characters in the shortest string", maxShortest/8)
		} else {
			scalar(string(jsondoc.AppendQuoted(nil, x.Shortest(x.Start()))))
		}
	}
	if best.size > 2 {
		if st := s.arrayStart(g); st >= 0 {
			if items, size := s.finishArray(st); size+1 < best.size {
				best = &finish{size: size + 1, array: true, items: items}
			}
		}
	}
	if best.size > 2 {
		if st := s.objectStart(g); st >= 0 {
			if members, size := s.finishObject(st, true); size+1 < best.size {
				best = &finish{size: size + 1, object: true, members: members}
			}
		}
	}
	if best.size != noFinish && best.size > maxShortest {
		s.limit("bytes in the shortest document", maxShortest)
		best = &finish{size: noFinish}
	}
	if best.size == noFinish {
		delete(s.shortest, g)
	} else {
		s.shortest[g] = best
	}
	return best
}

// finishArray returns goals of items that complete an array in a state, and
// the size of the rest with the closing bracket.
func (s *source) finishArray(state int32) ([]goal, int) {
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
	for steps := 0; len(queue) > 0 && steps < syntax.MaxMinItems+maxLookahead && s.err == nil; steps++ {
		at := heap.Pop(&queue).(finishPath)
		p := paths[at.path]
		if visited[p.state] {
			continue
		}
		visited[p.state] = true
		if s.final(s.arrays.states[p.state].f) {
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
		for _, m := range s.itemMoves(p.state) {
			n := s.shortestValue(m.g).size
			if n == noFinish {
				continue
			}
			next := m.next
			if s.isUnique(s.arrays.states[next].f) {
				v, err := syntax.ReadJSON(s.render(m.g, 0), s.opt.Limits.Depth)
				if err != nil {
					continue
				}
				var ok bool
				if next, ok = s.withItem(next, v); !ok {
					continue
				}
			}
			size := p.size + n + 1
			if size > maxShortest {
				s.limit("bytes in the shortest document", maxShortest)
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
func (s *source) render(g goal, depth int16) string {
	f := s.shortestValue(g)
	switch {
	case f.array:
		if len(f.items) == 0 {
			return "[]"
		}
		return "[" + s.renderItems(f.items, depth, true)
	case f.object:
		if len(f.members) == 0 {
			return "{}"
		}
		return "{" + s.renderMembers(f.members, depth, true)
	}
	return f.scalar
}

// renderItems writes items and the closing bracket.
func (s *source) renderItems(items []goal, depth int16, open bool) string {
	var b strings.Builder
	for i, g := range items {
		if i > 0 || !open {
			b.WriteByte(',')
		}
		if s.pretty() {
			b.WriteString(newline(depth + 1))
		}
		b.WriteString(s.render(g, s.inner(depth)))
	}
	if s.pretty() {
		b.WriteString(newline(depth))
	}
	b.WriteByte(']')
	return b.String()
}

// renderMembers writes members and the closing brace.
func (s *source) renderMembers(members []finishMember, depth int16, open bool) string {
	var b strings.Builder
	for i, m := range members {
		if i > 0 || !open {
			b.WriteByte(',')
		}
		if s.pretty() {
			b.WriteString(newline(depth + 1))
		}
		b.Write(jsondoc.AppendQuoted(nil, m.key))
		b.WriteString(s.colon())
		b.WriteString(s.render(m.g, s.inner(depth)))
	}
	if s.pretty() {
		b.WriteString(newline(depth))
	}
	b.WriteByte('}')
	return b.String()
}

func (s *source) colon() string {
	if s.pretty() {
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
		return s.render(goal(k.a), k.depth)
	case frameText:
		return s.frames.texts[k.a][k.b:]
	case frameNumber:
		return string(s.numberIDs[k.a].Shortest(k.b))
	case frameString:
		t := s.stringText(k.a, k.b)
		lead, q := spelling.FinishCharacter(t, k.b, k.c)
		quoted := jsondoc.AppendQuoted(nil, s.machines[k.a].Shortest(q))
		return lead + string(quoted[1:])
	case frameArrOpen:
		items, size := s.finishArray(k.a)
		switch {
		case size == noFinish:
			return ""
		case len(items) == 0:
			return "]"
		}
		return s.renderItems(items, k.depth, true)
	case frameArrAfter, frameArrItem:
		items, size := s.finishArray(k.a)
		if size == noFinish {
			return ""
		}
		return s.renderItems(items, k.depth, false)
	case frameObjOpen:
		members, size := s.finishObject(k.a, true)
		switch {
		case size == noFinish:
			return ""
		case len(members) == 0:
			return "}"
		}
		return s.renderMembers(members, k.depth, true)
	case frameObjAfter:
		members, size := s.finishObject(k.a, false)
		if size == noFinish {
			return ""
		}
		return s.renderMembers(members, k.depth, false)
	case frameColon:
		return s.colon()
	case frameObjComma:
		if rest := s.finishKey(frameKey{kind: frameObjKey, depth: k.depth, a: k.a, b: s.firstKey(k.a)}); rest != "" {
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
	ks := s.objects.keyStates.keys[key]
	fam := s.objects.families[ks.fam]
	best, size := "", noFinish
	try := func(rest string, m move, free bool) {
		n := s.shortestValue(m.g).size
		_, tail := s.finishObject(m.next, false)
		if total := len(rest) + n + tail; n != noFinish && tail != noFinish && total < size {
			size = total
			best = lead + rest + `"` + s.colon() + s.render(m.g, s.inner(k.depth)) + s.finish(frameKey{kind: frameObjAfter, depth: k.depth, a: m.next})
		}
	}
	missing := s.missing(&s.objects.states.keys[k.a])
	tried := 0
	// Names that have to come first: one of them is never worse.
	for pass := 0; pass < 2 && tried == 0; pass++ {
		for i := ks.lo; i < ks.hi && tried < 8; i++ {
			n := fam.sorted[i]
			if !s.allowedName(k.a, n) || pass == 0 && missing[n>>6]>>(n&63)&1 == 0 {
				continue
			}
			tried++
			rest := string(jsondoc.AppendQuoted(nil, s.nameAt(fam, i)[ks.depth:]))
			for _, m := range s.enter(k.a, n, 0) {
				try(rest[1:len(rest)-1], m, false)
			}
		}
	}
	if tried == 0 || size == noFinish {
		allowed := func(matching uint64) bool { return s.allowedFree(k.a, matching) }
		alive := func(key int32) bool { return s.freeFrom(k.a, key) }
		if text, matching, ok := s.freshKey(key, key != s.firstKey(k.a), allowed, alive); ok {
			rest := string(jsondoc.AppendQuoted(nil, text))
			for _, m := range s.enter(k.a, -1, matching) {
				try(rest[1:len(rest)-1], m, true)
			}
		}
	}
	return best
}
