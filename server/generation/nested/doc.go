// Package nested constrains and reads objects and arrays within the arguments of calls that a model's family writes in a notation
// of its own, not as JSON.
//
//	demand.go   what a schema demands of a value, collected from $ref, allOf and the alternatives
//	grammar.go  the demands → a grammar of their texts in the notation, in GBNF
//	text.go     strings and numbers: the automata of packages regular and number as rules
//	read.go     a text in the notation → JSON, as it arrives
//
// A rule describes the values of some schemas at once, so recursive references are recursive rules. Keywords that a grammar can't
// enforce are reported and left to the validator.
package nested
