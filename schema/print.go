package schema

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/schema/logic"
)

// formString returns a formula with readable key sets and numbers.
func (s *source) formString(f logic.Form) string {
	return s.forms.String(f, logic.Names{
		Keys:    s.sets.setString,
		Decimal: func(x int32) string { return s.numbers.decimals[x].String() },
		Numbers: func(set int32) string {
			var parts []string
			for _, x := range s.numbers.setDecimals(set) {
				parts = append(parts, x.String())
			}
			return "{" + strings.Join(parts, ", ") + "}"
		},
	})
}

// setString returns a key set: names in quotes, patterns by number.
func (ks *keySets) setString(set int32) string {
	x := &ks.list[set]
	var parts []string
	for _, id := range x.names {
		parts = append(parts, fmt.Sprintf("%q", ks.names[id]))
	}
	for _, p := range x.patterns {
		parts = append(parts, fmt.Sprintf("pattern %d", p))
	}
	switch text := strings.Join(parts, ", "); {
	case x.others:
		return "key but " + text
	case len(parts) == 1:
		return text
	default:
		return "key of " + text
	}
}

// objectString describes the state of an object: the demands on every member,
// the part that members change, and the names that are required and have been
// read.
func (s *source) objectString(state int32) string {
	x := &s.objects.states.Keys[state]
	uni := s.keys.universes[x.uni]
	names := func(has func(i int32) bool) string {
		var parts []string
		for i, id := range uni.names {
			if has(int32(i)) {
				parts = append(parts, s.sets.names[id])
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	missing := s.objects.missing(x)
	out := fmt.Sprintf("static %s; dynamic %s; read %s; missing %s",
		s.formString(s.objects.statics[x.static].f), s.formString(x.dyn),
		names(func(i int32) bool { return s.objects.isUsed(x, i) }),
		names(func(i int32) bool { return bits.OnesCount64(missing[i>>6]>>(i&63)&1) > 0 }))
	if s.objects.canClose(x) {
		out += "; may close"
	}
	return out
}

// frameString describes the position of a frame in a document.
func (s *source) frameString(f decoder.Frame) string {
	k := s.frames.Keys[f]
	switch k.kind {
	case frameRoot, frameValue:
		return k.kind.String() + " " + s.goals.String(logic.Goal(k.a))
	case frameText:
		return fmt.Sprintf("text %q", s.frames.texts[k.a][k.b:])
	case frameEnd, frameColon:
		return k.kind.String()
	}
	return fmt.Sprintf("%s, state %d", k.kind, k.a)
}

// String returns the kind in words.
func (k frameKind) String() string {
	return [...]string{
		frameRoot: "document", frameEnd: "end", frameValue: "value", frameText: "text", frameString: "string",
		frameNumber: "number", frameArrOpen: "array opened", frameArrAfter: "after an item",
		frameArrItem: "after an item that is compared", frameObjOpen: "object opened", frameObjKey: "key",
		frameColon: "colon", frameObjAfter: "after a member", frameObjComma: "before a key", frameIndent: "first indentation",
	}[k]
}
