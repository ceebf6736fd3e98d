// Package validator checks whole documents against JSON Schemas, of the drafts 4 to 2020-12.
//
// It exists to judge what the constraint engine has let through, so it shares no code with package schema: not the
// parser, not the numbers, not the patterns. Formats are asserted, references to other documents
// refused, patterns read as ECMA-262 has them.
//
// It is bounded whatever it is given. A value is checked against a subschema once, however many references lead to
// the pair, so time is at most the product of both sizes. Patterns run on Go's regexp, in linear time, unless they
// need what no linear matcher has (lookaround, back-references); those backtrack for a second in all
// at most. Beyond [MaxSteps] or when its context ends a validation gives up, within milliseconds,
// with [ErrUndecided] or the context's cause.
package validator
