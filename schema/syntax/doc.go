// Package syntax reads a JSON Schema document: its draft, keywords and
// references, each keyword checked and every problem listed with its place. What
// the keywords mean for a value is package schema's business.
//
// [ParseDocument] makes a tree of [Node] values, one for each schema in the
// document. References are resolved, schemas that say the same share an
// EqualID, and a schema that applies itself to the same value is invalid.
// [Document.CheckTexts] and [Document.CheckSizes] then look for patterns,
// formats and bounds that can't be enforced.
package syntax
