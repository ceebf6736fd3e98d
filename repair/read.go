package repair

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/schema"
)

// Options are the allowed changes and the requirements of a document.
type Options struct {
	Check  Check // nil: any JSON is acceptable
	Repair bool  // repair and coerce, rather than only clean up
	// Markdown removes emphasis from all strings, not only where that makes the
	// document valid.
	Markdown bool
	// With Repair: only the syntax, or only the types of values.
	NoCoerce   bool
	OnlyCoerce bool
	Hints      // Read sets Fits from Check
}

// An Outcome is the result of Read.
type Outcome struct {
	Text   string         // the document; the original text, if there is none
	JSON   bool           // Text is a JSON document
	Edits  []Edit         // the changes, in order
	Issues []schema.Issue // validation errors of the document
	// Err is why there is no document (a *SyntaxError, or ErrEmpty), or why the
	// document could not be validated.
	Err error
	// Unfinished is why not all conversions of an invalid document were tried; nil: they
	// were.
	Unfinished error
}

// Fine reports whether there is a valid document.
func (o *Outcome) Fine() bool { return o.JSON && o.Err == nil && len(o.Issues) == 0 }

// Edited reports whether a step changed the text.
func (o *Outcome) Edited(step string) bool {
	for _, e := range o.Edits {
		if e.Step == step {
			return true
		}
	}
	return false
}

// ErrEmpty means that the text is empty.
var ErrEmpty = errors.New("repair: the text is empty")

// A SyntaxError is the first JSON syntax error of a text.
type SyntaxError struct {
	Offset int
	Line   int
	Column int    // in characters, from 1
	Near   string // the line
	Reason string
	Repair error // why it was not repaired; nil if repair is off
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("repair: %d:%d: %s", e.Line, e.Column, e.Reason)
}

// Unwrap returns the reason that the text was not repaired.
func (e *SyntaxError) Unwrap() error { return e.Repair }

// Read applies the steps of the package comment to a text.
func Read(text string, opt Options) Outcome {
	tries := &tries{check: opt.Check}
	if opt.Check != nil {
		opt.Fits = func(document []byte) bool {
			_, _, issues, err := opt.fit(document, tries)
			return err == nil && len(issues) == 0
		}
	}
	out := Outcome{Text: text}
	if strings.TrimSpace(strings.ReplaceAll(text, byteOrderMark, "")) == "" {
		out.Err = ErrEmpty
		return out
	}
	cleaned, edits := Clean(text, opt.Fits)
	if !parses(cleaned) {
		bad := syntaxError(cleaned)
		out.Err = bad
		if !opt.Repair || opt.OnlyCoerce {
			return out
		}
		document, more, err := Repair(cleaned, opt.Hints)
		if err != nil {
			bad.Repair = err
			return out
		}
		cleaned, edits = string(document), append(edits, more...)
	}
	out = Outcome{Text: cleaned, JSON: true, Edits: edits}
	document, more, issues, err := opt.fit([]byte(cleaned), tries)
	if err == nil && len(issues) > 0 {
		out.Unfinished = tries.stopped
	}
	out.Text, out.Edits, out.Issues, out.Err = string(document), append(edits, more...), issues, err
	return out
}

// fit makes a valid document of one that parses, as far as the options allow.
func (opt *Options) fit(document []byte, tries *tries) ([]byte, []Edit, []schema.Issue, error) {
	var edits []Edit
	if len(document) > maxChanged {
		if opt.Check == nil {
			return document, nil, nil, nil
		}
		tries.stop(errTooLarge)
		issues, err := opt.Check(document)
		return document, nil, issues, err
	}
	again := tries.again
	if opt.Check == nil {
		again = nil
	}
	if opt.Markdown {
		document, edits = unmarkAll(document, again)
	}
	if opt.Check == nil {
		return document, edits, nil, nil
	}
	issues, err := opt.Check(document)
	if err != nil || len(issues) == 0 {
		return document, edits, issues, err
	}
	if next, more, ok := unmark(document, issues, again); ok {
		return next, append(edits, more...), nil, nil
	}
	if !opt.Repair || opt.NoCoerce {
		return document, edits, issues, nil
	}
	next, more, issues := coerce(document, issues, again)
	if len(issues) > 0 {
		// Both together: "**4**" for 4.
		if plain, first := unmarked(next, func(string) bool { return true }, bare); len(first) > 0 {
			if left, err := again(plain); err == nil {
				if both, second, left := coerce(plain, left, again); len(left) == 0 {
					return both, slices.Concat(edits, more, first, second), nil, nil
				}
			}
		}
	}
	return next, append(edits, more...), issues, nil
}

// Limits of the changes that are tried on a document that parses.
const (
	maxChanged = 1 << 20  // bytes of the document
	maxTried   = 64 << 20 // bytes of all documents that are checked
	triedLeast = 4 << 10  // bytes that a smaller document counts as
)

var (
	errTooLarge = fmt.Errorf("repair: values and emphasis of documents of more than %d bytes are not changed", maxChanged)
	errTooHard  = errors.New("repair: trying all conversions is too much work")
)

// tries are the checks of changed documents for one text. The first one that can't be made ends them: the work has reached
// its limit, or the client is gone.
type tries struct {
	check   Check
	tried   int // bytes
	stopped error
}

func (t *tries) stop(err error) {
	if t.stopped == nil {
		t.stopped = err
	}
}

// again checks a changed document.
func (t *tries) again(document []byte) ([]schema.Issue, error) {
	if t.tried += max(len(document), triedLeast); t.tried > maxTried {
		t.stop(errTooHard)
	}
	if t.stopped != nil {
		return nil, t.stopped
	}
	issues, err := t.check(document)
	if err != nil {
		t.stop(err)
	}
	return issues, err
}

// syntaxError returns the first syntax error of a text.
func syntaxError(text string) *SyntaxError {
	var any json.RawMessage
	d := json.NewDecoder(strings.NewReader(text))
	err := d.Decode(&any)
	at, reason := len(text), "it ends too early"
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		at, reason = int(d.InputOffset()), "there is something after the document"
	case errors.As(err, &syntax) && !errors.Is(err, io.ErrUnexpectedEOF):
		at, reason = int(syntax.Offset)-1, syntax.Error()
	}
	at = max(0, min(at, len(text)))
	before := text[:at]
	line := strings.Count(before, "\n") + 1
	start := strings.LastIndexByte(before, '\n') + 1
	near, _, _ := strings.Cut(text[start:], "\n")
	return &SyntaxError{Offset: at, Line: line, Column: len([]rune(before[start:])) + 1, Near: near, Reason: reason}
}
