// Package schema compiles JSON Schema to a constraint for package decoder.
//
// It reads drafts 4, 6, 7, 2019-09 and 2020-12, as $schema says; without it,
// 2020-12. A schema is enforced exactly or refused: for keywords that can't be
// enforced, the error is an [*UnsupportedError] that lists each with its place,
// unless [Options].OnUnsupported allows them.
//
// # How it works
//
// Package syntax reads the document. A demand on a value is a goal (package
// logic): a schema, its negation, a constant, or a combination. What a goal
// demands of one JSON type is its view (views.go, keywords.go): a set for
// null and booleans, a regular language for strings (package regular), and for
// numbers, arrays and objects a form, a formula in negation normal form over
// literals such as "some member with this key fulfils that goal". Negation is
// available everywhere, so oneOf, not, if and the dependencies are only
// combinations.
//
// Objects and arrays are followed by derivatives (derive.go). Where the
// derivative of a regular expression by a character (Brzozowski) is one
// expression, the derivative of a form by a member or item depends on the value,
// which is still to come. It is therefore a sum of terms, as in Antimirov's
// linear forms: each a goal for the value, and the form that is left if the value
// fulfils it. The decoder follows all terms at once. Many conditions on one
// member are rewritten as cases that exclude each other (cases.go), where the
// product of their derivatives would grow exponentially.
//
// A state is entered only if it can be completed, so no mask leads into a dead
// end. Whether members can make a form true is decided by a search in the manner
// of DPLL (satisfiable_object.go): literals that must hold are propagated,
// alternatives that have become impossible are dropped, and only then is the
// disjunction with the fewest alternatives left decided by trying them. What the
// chosen literals demand is then assigned to members, which leads back to goals
// (satisfiable.go). A goal that can be fulfilled only by containing itself has no
// value, since values are finite: this is a least fixed point, and results that
// rest on a guess on the way to it are not kept (base.firm). Arrays choose a length
// and a position for each demand (satisfiable_array.go). Goals that only list
// values, as enum does, are decided by their lists (logic/listings.go).
//
// The same search yields short completions (shortest.go, shortest_object.go):
// the shortest end of an array is found like a shortest path by Dijkstra's
// algorithm, that of an object among several choices of literals.
//
// Keys are read by an automaton of their own, over all names and patterns that
// the states of one object can refer to, its universe (keyset.go, keys.go);
// which of them may come depends on the state (nextkeys.go, derive_object.go).
// Package spelling reads the characters of strings and keys byte by byte.
//
// frame.go and frame_text.go build the decoder's frames from all this, finish.go
// the text that ends one, and prepare.go and prepare_key.go determine which tokens
// need no walk over the vocabulary, with the help of package tokens. The test file
// example_test.go follows one object from its schema to the frames after a key.
//
// All parts belong to one source, which dispatches (source.go); each has a type
// with its own tables:
//
//	views         what goals demand of values of each type
//	solver        whether goals have values
//	keySets       property names, patterns and sets of them
//	numbers       decimals and automata of numbers
//	texts         automata of strings
//	keyAutomaton  places inside keys
//	deriver       derivatives of forms
//	objects       states of objects between members
//	nextKeys      keys that may come next in those states
//	arrays        states of arrays between items
//	counts        how many different values there are, for uniqueItems
//	shortest      short values and ends
//	frameTable    the decoder's frames
//	preparer      tokens that may follow a frame
//
// # Closed objects
//
// With [Options].Closed, an object gets only members that the schemas for it name
// (unevaluated.go), unless these mention others too. This restricts only the
// initial state of an object: whether goals have values is decided as if objects
// were open, and an object that would have no value stays open. So closing never
// makes a schema unsatisfiable, except where items all have to differ.
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
//   - Where draft 4 forbids integers, no whole number is generated, although
//     1.0 is not an integer in draft 4.
//   - Up to draft 7, keywords beside $ref are ignored, as those drafts specify.
//   - Keys and generated strings are written without escapes that JSON doesn't
//     need. Lone surrogates are never accepted.
//   - A schema that endlessly applies itself to the same value is invalid.
//   - Very large demands are unsupported (syntax/check.go), such as more than
//     65,536 items, or 256 different ones.
//   - Items that contain numbers with exponents beyond 100,000, which are never
//     generated, are not compared where items have to be different.
package schema
