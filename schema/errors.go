package schema

import (
	"stencil/schema/jsondoc"
	"stencil/schema/syntax"
)

// The errors of [Compile], and what they list.
type (
	// An Issue is one thing to say about a schema document, with its place.
	Issue = syntax.Issue
	// A SyntaxError says why a document is not JSON.
	SyntaxError = jsondoc.SyntaxError
	// An InvalidError lists what makes a document no schema: keywords with
	// values they can't have, references to nothing.
	InvalidError = syntax.InvalidError
	// An UnsupportedError lists every keyword that can't be enforced.
	UnsupportedError = syntax.UnsupportedError
	// An UnsatisfiableError says that no JSON value is valid, and which parts
	// of the schema contradict each other as far as that can be told.
	UnsatisfiableError = syntax.UnsatisfiableError
	// A LimitError names the limit that a schema exceeds. Schemas that are
	// being enforced report it too, from [decoder.Matcher]'s methods.
	LimitError = syntax.LimitError
)
