// Package regular decides regular languages over Unicode code points: regular
// expressions closed under union, intersection and complement, turned lazily
// into deterministic automata.
//
// The alphabet is the set of Unicode scalar values, 0 to 10FFFF without the
// surrogates. A Store holds expressions, each once: equal handles mean equal
// expressions after simplification. A Machine is the automaton of one
// expression. Its states are made when they are first asked for, by
// derivatives: the successors of an expression are themselves expressions, and
// the simplification in the constructors keeps them few.
//
// What a Machine answers is exact. A state exists only where some accepted
// completion exists, also under intersection and complement, where that has to
// be searched for. Counted repetition is a counter and never written out, so
// that .{1,100000} costs what .* costs until it is walked.
//
// The files follow the way of a pattern: parse.go and escape.go read the text,
// translate.go turns the syntax tree into an expression, with around.go where
// it looks around; expr.go, or.go, and.go, strings.go and lengths.go hold the
// constructors, derive.go the successors, live.go and walk.go the search for
// completions, machine.go the automaton; head.go, shortest.go, count.go and
// loosen.go answer questions about its states. format.go has the formats of JSON
// Schema as languages, most of them tables or other automata of automaton.go.
//
// # Sources
//
// Derivatives of extended expressions: Brzozowski, Derivatives of Regular
// Expressions (1964). Computing all successors of a state at once over
// character classes: Owens, Reppy and Turon, Regular-expression derivatives
// re-examined (2009). Keeping unions flat on the left of a concatenation:
// Antimirov, Partial derivatives of regular expressions (1996).
package regular
