// Package syntax reads a JSON Schema document: its draft, keywords and references.
// It checks each keyword and lists every problem with its place. Package schema
// defines what the keywords mean for a value.
//
// [ParseDocument] builds a tree of [Node] values, one for each schema in the
// document. References are resolved, equal schemas share an EqualID, and a schema
// that applies itself to the same value is invalid. [Document.CheckTexts] and
// [Document.CheckSizes] then find patterns, formats and bounds that can't be
// enforced.
package syntax
