// Package constraint compiles the constraints of requests for one vocabulary, each into an
// [engine.Constraint]: JSON Schemas, grammars, regular expressions, choices, and sequences of those
// with free text between them. It caches the most recently used ones, together with the masks that
// they have computed, and checks complete texts with a [Validator] that shares no code with the
// masks.
package constraint
