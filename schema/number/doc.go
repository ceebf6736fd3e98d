// Package number makes automata over the texts of JSON numbers.
//
// A [Spec] is a set of numbers: bounds, multiples, lists of values, and their
// opposites. [Compile] turns it into an [Automaton] over the bytes - + . e E
// 0…9, which accepts the texts of these numbers, exactly: a state is [Dead]
// when no continuation is accepted, and only then.
package number
