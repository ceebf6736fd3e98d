// Package logic implements the formulas that package schema reasons with.
//
// A [Goal] is a demand on a value: a schema, its negation, a constant, or a
// combination of goals. A [Form] is what a goal demands of one JSON type: a
// formula in negation normal form whose literals speak about the members of one
// object, the items of one array, or one number. A literal may name a goal for a
// member or item, so forms and goals alternate as the document nests:
//
//	{"properties": {"a": {"minimum": 3}}, "required": ["a"]}
//
//	for objects: every member "a" fulfils #/properties/a ∧ some member "a" fulfils anything
//	for numbers: ⊤
//
// Both are hash-consed: equal formulas have the same number, so they are compared and
// looked up at no cost, and results about a formula are computed once. Simplification
// on construction (flattening, complements, absorption) keeps formulas small, and a
// negation is a table look-up once it has been computed.
//
// The tables belong to one source and are not safe for concurrent use.
package logic
