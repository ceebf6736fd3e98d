package schema

import (
	"fmt"

	"github.com/stencil-json/stencil/schema/language"
	"github.com/stencil-json/stencil/schema/logic"
	"github.com/stencil-json/stencil/schema/syntax"
)

// exampleSource returns a source for a schema that can be enforced.
func exampleSource(src string) *source {
	opt := Options{Order: OrderAny, Limits: Limits{}.OrDefaults()}
	doc, err := syntax.ParseDocument(src, opt.Limits.Depth, false)
	if err != nil {
		panic(err)
	}
	return newSource(doc, opt, language.Shared(), nil)
}

// An object, from the text of its schema to the frames after a key.
func Example_object() {
	s := exampleSource(`{"type": "object", "properties": {"a": {"minimum": 3}}, "required": ["a"], "minProperties": 2}`)

	// A goal, and its demands on objects.
	root := s.views.root()
	fmt.Println("goal: ", s.goals.String(root))
	fmt.Println("form: ", s.formString(logic.Form(s.views.of(root, jObject))))

	// The state before the first member.
	state := s.objects.start(root)
	fmt.Println("state:", s.objectString(state))

	// The derivative by a key: goals for its value, and states after it.
	name := s.keys.universes[s.objects.states.Keys[state].uni].at(s.sets.name("a"))
	for _, m := range s.objects.enter(state, name, 0) {
		fmt.Println("key a:", s.goals.String(m.g), "→", s.formString(logic.Form(s.views.of(m.g, jNumber))))
		fmt.Println("then: ", s.objectString(m.next))
		// The decoder's stack once the key is read, top last.
		for _, f := range s.frames.memberFrames(s.place().Colons()[0], m.g, m.next) {
			fmt.Println("frame:", s.frameString(f))
		}
	}
	// Another key: one more member, and "a" is still missing.
	for _, m := range s.objects.enter(state, -1, 0) {
		fmt.Println("key b:", s.goals.String(m.g))
		fmt.Println("then: ", s.objectString(m.next))
	}
	// Output:
	// goal:  #
	// form:  every "a": #/properties/a ∧ some "a": anything ∧ ≥ 2 members
	// state: static every "a": #/properties/a ∧ some "a": anything; dynamic ≥ 2 members; read {}; missing {a}
	// key a: #/properties/a → ≥ 3
	// then:  static every "a": #/properties/a ∧ some "a": anything; dynamic ≥ 1 members; read {a}; missing {}
	// frame: after a member, state 1
	// frame: value #/properties/a
	// frame: colon
	// key b: anything
	// then:  static every "a": #/properties/a ∧ some "a": anything; dynamic ≥ 1 members; read {}; missing {a}
}

// The derivative of a formula by one more item is a sum of terms, Antimirov's linear
// form: each a goal for the item, and the form that remains to be fulfilled.
func Example_linearForm() {
	s := exampleSource(`{"type": "array", "contains": {"const": 1}, "maxItems": 2, "items": {"type": "integer"}}`)
	f := logic.Form(s.views.of(s.views.root(), jArray))
	fmt.Println(s.formString(f))
	for _, t := range s.arrays.derive.byItem(f, logic.Always) {
		fmt.Printf("  %s · [%s]\n", s.goals.String(t.g), s.formString(t.f))
	}
	// Output:
	// every of items from 0: #/items ∧ ≤ 2 items ∧ ≥ 1 items: #/contains
	//   #/items · [every of items from 0: #/items ∧ ≥ 1 items: #/contains ∧ ≤ 1 items]
	//   (#/items and #/contains) · [every of items from 0: #/items ∧ ≤ 1 items]
}
