package schema

import (
	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/schema/layout"
	"github.com/stencil-json/stencil/schema/logic"
	"github.com/stencil-json/stencil/schema/spelling"
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

// finish returns the text that ends a frame. It is empty if no text is known or
// needed, as at the end of the document or of a number.
func (s *source) finish(k frameKey) string {
	switch k.kind {
	case frameRoot, frameValue:
		return s.shortest.render(logic.Goal(k.a), k.at)
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
		return s.shortest.renderItems(items, k.at, listOpen)
	case frameArrAfter, frameArrItem:
		items, size := s.shortest.array(k.a)
		if size == noValue {
			return ""
		}
		return s.shortest.renderItems(items, k.at, listMore)
	case frameObjOpen:
		members, size := s.shortest.object(k.a, true)
		switch {
		case size == noValue:
			return ""
		case len(members) == 0:
			return "}"
		}
		return s.shortest.renderMembers(members, k.at, listOpen)
	case frameObjAfter:
		members, size := s.shortest.object(k.a, false)
		if size == noValue {
			return ""
		}
		return s.shortest.renderMembers(members, k.at, listMore)
	case frameIndent:
		at := k.at.Indented(int(k.b))[0]
		if k.c == 0 {
			members, size := s.shortest.object(k.a, true)
			if size == noValue || len(members) == 0 {
				return s.finishKeyAt(k.a, at)
			}
			return s.shortest.renderMembers(members, at, listBegun)
		}
		items, size := s.shortest.array(k.a)
		if size == noValue || len(items) == 0 {
			return s.finishItem(k.a, at)
		}
		return s.shortest.renderItems(items, at, listBegun)
	case frameColon:
		return s.frames.texts[k.a]
	case frameObjComma:
		return s.finishKeyAt(k.a, k.at)
	case frameObjKey:
		return s.finishKey(k)
	}
	return ""
}

// finishKeyAt completes an object at a place where a key must come.
func (s *source) finishKeyAt(state int32, at layout.Place) string {
	if rest := s.finishKey(frameKey{kind: frameObjKey, at: at, a: state, b: s.next.before(state)}); rest != "" {
		return `"` + rest
	}
	return ""
}

// finishItem completes an array at a place where an item must come.
func (s *source) finishItem(state int32, at layout.Place) string {
	best, size := "", noValue
	for _, m := range s.arrays.itemMoves(state) {
		n := s.shortest.value(m.g).size
		if _, tail := s.shortest.array(m.next); n != noValue && tail != noValue && n+tail < size {
			size = n + tail
			best = s.shortest.render(m.g, at.Value()) + s.finish(frameKey{kind: frameArrAfter, at: at, a: m.next})
		}
	}
	return best
}

// finishKey completes a key, its value and the object.
func (s *source) finishKey(k frameKey) string {
	t := &keyText{s: s, place: k.at, state: k.a, key: k.b}
	lead, key := spelling.FinishCharacter(t, k.b, k.c)
	ks := s.keys.states.Keys[key]
	best, size := "", noValue
	if members, n := s.shortest.objectFrom(k.a, s.objects.mayCome(k.a, ks)); n != noValue {
		text := s.shortest.renderMembers(members, k.at, listBegun)
		read := len(jsondoc.AppendQuoted(nil, members[0].key[:ks.depth])) - 1
		best, size = lead+text[read:], n-1-read
	}
	allowed := func(matching uint64) bool { return s.objects.allowedFree(k.a, matching) }
	alive := func(key int32) bool { return s.next.free(k.a, key) }
	if text, matching, ok := s.shortest.freshKey(key, key != s.next.before(k.a), allowed, alive); ok {
		rest := string(jsondoc.AppendQuoted(nil, text)[1:])
		colon := k.at.Colons()[0]
		for _, m := range s.objects.enter(k.a, -1, matching) {
			n := s.shortest.value(m.g).size
			_, tail := s.shortest.object(m.next, false)
			if total := len(rest) + 1 + n + tail; n != noValue && tail != noValue && total < size {
				size = total
				best = lead + rest + colon.Text + s.shortest.render(m.g, colon.Place.Value()) + s.finish(frameKey{kind: frameObjAfter, at: colon.Place, a: m.next})
			}
		}
	}
	return best
}
