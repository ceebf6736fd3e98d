package repair

import "fmt"

// An Edit is one change to a text. The edits show how far an answer is from the
// output of the model.
type Edit struct {
	Step    string `json:"step"`              // one of the Step constants
	Offset  int    `json:"offset,omitempty"`  // byte offset in the text before the step
	Pointer string `json:"pointer,omitempty"` // of coerced values
	Note    string `json:"note,omitempty"`    // what was done
	Inside  bool   `json:"-"`                 // with StepMarkers: within a string or key
}

// String returns the edit as a line of text.
func (e Edit) String() string {
	switch {
	case e.Pointer != "":
		return fmt.Sprintf("%s: %s: %s", e.Step, e.Pointer, e.Note)
	case e.Note != "":
		return fmt.Sprintf("%s at byte %d: %s", e.Step, e.Offset, e.Note)
	}
	return fmt.Sprintf("%s at byte %d", e.Step, e.Offset)
}

// The steps, in order.
const (
	StepMark        = "byte_order_mark"
	StepThoughts    = "reasoning"
	StepFence       = "code_fence"
	StepSurround    = "surrounding_text"
	StepMarkers     = "emphasis"
	StepTypographic = "typographic_quotes"

	StepEscaped    = "escaped_document" // the whole document was escaped like the contents of a string
	StepComment    = "comment"
	StepQuotes     = "quotes"          // missing, single or unescaped quotes
	StepEscapes    = "escapes"         // control characters and escapes that JSON does not allow
	StepLiteral    = "literal"         // True, None and the like
	StepNumber     = "number"          // notations that JSON does not allow
	StepComma      = "comma"           // missing or too many
	StepColon      = "colon"           // missing or another character
	StepBracket    = "bracket"         // missing, wrong or too many
	StepTruncated  = "truncated"       // the text ended before its brackets were closed
	StepTrailing   = "trailing_text"   // text after the document
	StepLibrary    = "library"         // the result of the general-purpose repairer
	StepCoercion   = "coercion"        // a value of another type
	StepUnwrapping = "json_in_string"  // a document written as a string
	StepWrapping   = "value_for_array" // a single value where an array was required
)
