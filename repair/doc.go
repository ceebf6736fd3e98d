// Package repair extracts JSON from unconstrained text.
//
// [Read] applies separate steps. Each is listed in the outcome if it changed
// anything, and none changes text that already parses:
//
//	clean    byte-order mark, reasoning, code fence, text around the document, bold and
//	         italic markers around values, typographic quotes
//	repair   quotes, commas, colons, brackets, escapes, comments, literals of
//	         other languages (only on request)
//	emphasis bold and italic markers in strings and keys, where taking them away
//	         is all that it takes for the document to fit (everywhere on request)
//	coerce   values of the wrong type, if the conversion is lossless
//	         (only on request)
//
// # Never wrong
//
// A repaired document that is not the intended one is worse than an error.
// Therefore [Repair] finds all readings of the text that need the fewest changes,
// and accepts one only if it is the only one, or the only one that fits the schema.
// It never adds or drops anything that carries meaning: no value, no key, no rest of
// a truncated string or number, no ellipsis. Arithmetic is not evaluated. search.go
// lists the changes and their costs.
//
// # Why not a library
//
// kaptinlin/jsonrepair, the port of the best known library, returns a document for
// nearly every text. For more than a quarter of the texts in testdata/broken.txt it
// is not the intended one, and no comparison of the result with the text detects
// this: a truncated string, a bracket missing in the middle and an expression keep
// all their letters. TestCorpus compares this package with that library.
package repair
