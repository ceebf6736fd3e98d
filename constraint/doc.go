// Package constraint compiles what the texts of a request must fit into an [engine.Constraint] for one vocabulary:
// JSON Schemas, grammars, regular expressions, choices, and sequences of those with free text between them. It keeps
// those that were used last, with all that they have learnt about the vocabulary, and checks complete texts with a
// [Validator] that shares no code with the masks.
package constraint
