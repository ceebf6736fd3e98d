// Package regular implements regular languages over Unicode code points: regular
// expressions with union, intersection and complement, lazily compiled to deterministic
// automata.
//
// The alphabet is the set of Unicode scalar values, 0 to 10FFFF without the surrogates.
// A Store hash-conses expressions: equal handles mean equal expressions after
// simplification. A Machine is the automaton of one expression. Its states are created
// on demand by derivatives: the successors of an expression are themselves expressions,
// and the simplification in the constructors keeps their number small.
//
// A Machine is exact. A state exists only if it has an accepted completion, which for
// intersection and complement requires a search. Counted repetition is a counter, never
// unrolled, so .{1,100000} costs as little as .* until it is walked.
//
// The files follow the path of a pattern: parse.go and escape.go read the text,
// translate.go translates the syntax tree into an expression, with lookaround.go for
// look-around; expr.go, or.go, and.go, strings.go and lengths.go contain the
// constructors, derive.go the successors, emptiness.go and walk.go the search for
// completions, machine.go the automaton; head.go, shortest.go, count.go and widen.go
// compute properties of its states. format.go and package formats have the formats of
// JSON Schema as languages, most of them tables or other automata of automaton.go. Sets
// of characters are those of package runes.
//
// # Why not a library
//
// regexp and regexp2 match texts. A constraint needs the languages themselves: their
// intersections and complements, and whether a beginning can still be completed.
//
// # Sources
//
// Derivatives of extended expressions: Brzozowski, Derivatives of Regular
// Expressions (1964). Computing all successors of a state at once over
// character classes: Owens, Reppy and Turon, Regular-expression derivatives
// re-examined (2009). Keeping unions flat on the left of a concatenation:
// Antimirov, Partial derivatives of regular expressions (1996).
package regular
