package schema

import (
	"stencil/decoder"
	"stencil/schema/jsondoc"
	"stencil/schema/logic"
	"stencil/schema/spelling"
)

// Finish implements [decoder.Source].
func (s *source) Finish(f decoder.Frame) []byte {
	k := s.frames.Keys[f]
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
		return s.shortest.render(logic.Goal(k.a), k.depth)
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
		case size == noValue:
			return ""
		case len(items) == 0:
			return "]"
		}
		return s.shortest.renderItems(items, k.depth, true)
	case frameArrAfter, frameArrItem:
		items, size := s.shortest.array(k.a)
		if size == noValue {
			return ""
		}
		return s.shortest.renderItems(items, k.depth, false)
	case frameObjOpen:
		members, size := s.shortest.object(k.a, true)
		switch {
		case size == noValue:
			return ""
		case len(members) == 0:
			return "}"
		}
		return s.shortest.renderMembers(members, k.depth, true)
	case frameObjAfter:
		members, size := s.shortest.object(k.a, false)
		if size == noValue {
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
	ks := s.keys.states.Keys[key]
	uni := s.keys.universes[ks.uni]
	best, size := "", noValue
	try := func(rest string, m move, free bool) {
		n := s.shortest.value(m.g).size
		_, tail := s.shortest.object(m.next, false)
		if total := len(rest) + n + tail; n != noValue && tail != noValue && total < size {
			size = total
			best = lead + rest + `"` + s.colon() + s.shortest.render(m.g, s.inner(k.depth)) + s.finish(frameKey{kind: frameObjAfter, depth: k.depth, a: m.next})
		}
	}
	missing := s.objects.missing(&s.objects.states.Keys[k.a])
	tried := 0
	// Names that have to come first: one of them is never worse.
	for pass := 0; pass < 2 && tried == 0; pass++ {
		for i := ks.lo; i < ks.hi && tried < 8; i++ {
			n := uni.sorted[i]
			if !s.objects.allowedName(k.a, n) || pass == 0 && missing[n>>6]>>(n&63)&1 == 0 {
				continue
			}
			tried++
			rest := string(jsondoc.AppendQuoted(nil, s.keys.nameAt(uni, i)[ks.depth:]))
			for _, m := range s.objects.enter(k.a, n, 0) {
				try(rest[1:len(rest)-1], m, false)
			}
		}
	}
	if tried == 0 || size == noValue {
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
