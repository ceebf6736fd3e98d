// Package schema compiles JSON Schema to a constraint for package decoder.
//
// Drafts 4, 6, 7, 2019-09 and 2020-12 are read, as $schema says; without it
// 2020-12. A schema is enforced exactly or refused: what can't be enforced is
// an [*UnsupportedError] that lists every keyword with its place, unless the
// caller asks for something else.
//
// # How it works
//
// What a value has to fulfil is a goal: a schema, its negation, a constant or
// a combination (goal.go). What a goal means for one JSON type is a view
// (source.go): a set for null and booleans, a regular language for strings
// (package regular), and for numbers, arrays and objects a form, a formula
// in negation normal form over literals such as "some member with this key
// fulfils that goal" (form.go). Because negation is available everywhere,
// oneOf, not, if and the dependencies need nothing of their own.
//
// An object or array in the middle of being written is a form too: reading a
// member replaces the form by what is left of it, and yields the goal for the
// member's value (object.go, array.go). Where that leaves a choice there are
// several ways on, and the decoder follows all of them; many conditions on one
// member are followed case by case (cases.go). A state is entered only if it can
// be completed (empty.go), so no mask leads into a dead end. The same search
// finds short completions (finish.go, witness.go); where a schema leaves many
// choices it compares some and takes the shortest of those. Subschemas that say
// the same are one (same.go).
//
// Keys are read by their own automaton, over all names and patterns at once
// (key.go); text.go spells characters as UTF-8 and as escapes; frame.go makes
// the decoder's frames; prepare.go says which tokens need not be walked,
// stay.go, odd.go and closers.go which tokens a language of strings allows.
//
// # Keywords
//
//	$defs                  schemas to refer to
//	$dynamicRef            enforced
//	$recursiveRef          enforced
//	$ref                   enforced within the document; others are unsupported
//	additionalItems        enforced
//	additionalProperties   enforced
//	allOf                  enforced
//	anyOf                  enforced
//	const                  enforced
//	contains               enforced
//	definitions            schemas to refer to
//	dependencies           enforced
//	dependentRequired      enforced
//	dependentSchemas       enforced
//	else                   enforced
//	enum                   enforced
//	exclusiveMaximum       enforced
//	exclusiveMinimum       enforced
//	format                 enforced where the format is known; others are annotations
//	if                     enforced
//	items                  enforced
//	maxContains            enforced
//	maxItems               enforced
//	maxLength              enforced
//	maxProperties          enforced
//	maximum                enforced
//	minContains            enforced
//	minItems               enforced
//	minLength              enforced
//	minProperties          enforced
//	minimum                enforced
//	multipleOf             enforced
//	not                    enforced
//	oneOf                  enforced
//	pattern                enforced; back-references are unsupported
//	patternProperties      enforced
//	prefixItems            enforced
//	properties             enforced
//	propertyNames          enforced
//	required               enforced
//	then                   enforced
//	type                   enforced
//	unevaluatedItems       enforced
//	unevaluatedProperties  enforced
//	uniqueItems            enforced
//
// # Departures from the specification
//
//   - Formats are asserted in every draft.
//   - A number such as 1.0 is an integer in draft 4 too.
//   - Up to draft 7, what stands beside $ref is ignored, as those drafts say.
//   - Keys are spelt without escapes that JSON doesn't need, and so are
//     strings that are generated. Lone surrogates are never accepted.
//   - A schema that applies itself to the same value without an end is
//     invalid.
//   - Demands for very much are unsupported (sizes.go), such as more than
//     65,536 items, or 256 different ones.
//   - Numbers with exponents beyond 100,000, which are never generated, aren't
//     told from others where items have to be different.
package schema
