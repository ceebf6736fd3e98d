// Package repair reads JSON out of text that was written without a constraint.
//
// [Read] takes a text through separate steps, each of which is listed in the
// outcome if it changed anything, and none of which touches text that already
// parses:
//
//	clean    byte-order mark, reasoning, code fence, text around the document, bold and
//	         italic markers around values, typographic quotes
//	repair   quotes, commas, colons, brackets, escapes, comments, literals of
//	         other languages (only on request)
//	coerce   values of another type than the schema has, where nothing is lost
//	         (only on request)
//
// # Never wrong
//
// A repaired document that is not the one that was meant is worse than an
// error. So [Repair] looks for every way of reading the text that needs the
// fewest changes, and takes one only if it is the only one, or the only one
// that fits the schema. Nothing that carries meaning is ever added or dropped:
// not a value, not a key, not the rest of a string or number that was cut off,
// not an ellipsis. Arithmetic is not evaluated. See search.go for the changes
// and what they cost.
//
// # Why not a library
//
// kaptinlin/jsonrepair, the port of the best known one, returns something for
// nearly every text. Of the texts in testdata/broken.txt that is for more than
// a quarter not what was meant, and no check of its result against the text
// tells those apart: a string that was cut off, a bracket that is missing in the
// middle and an expression keep all their letters. It is the measure that
// TestCorpus holds this package to.
package repair
