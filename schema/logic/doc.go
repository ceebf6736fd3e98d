// Package logic holds the formulas in which package schema reasons.
//
// A [Goal] is a demand on a value: a schema, its negation, a constant, or a
// combination of goals. A [Form] is what a goal says about one JSON type: a
// formula in negation normal form whose literals speak about the members of one
// object, the items of one array, or one number. A literal may name a goal for a
// member or item, so forms and goals alternate as the document nests:
//
//	{"properties": {"a": {"minimum": 3}}, "required": ["a"]}
//
//	for objects: every member "a" fulfils #/properties/a ∧ some member "a" fulfils anything
//	for numbers: ⊤
//
// Both are hash-consed: equal formulas are one number, so they are compared and
// looked up at no cost, and what is found out about one is found out for all.
// Simplification when a formula is made (flattening, complements, absorption)
// keeps them small, and negation is a table look-up once it is known.
//
// The tables belong to one source and are not safe for concurrent use.
package logic
