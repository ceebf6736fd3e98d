package engine

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"stencil/schema"
)

// ErrUndecided is the verdict of a validator one of whose patterns took too
// long to match.
var ErrUndecided = errors.New("engine: a pattern of the schema took too long to match")

// An InvalidDocumentError lists where a document does not fit its schema.
type InvalidDocumentError struct {
	Issues []schema.Issue // Pointer is into the document, Keyword into the schema
}

// Error implements error.
func (e *InvalidDocumentError) Error() string {
	var b strings.Builder
	b.WriteString("engine: the document does not fit the schema")
	for i, issue := range e.Issues {
		b.WriteString([]string{": ", "; "}[min(i, 1)])
		b.WriteString(issue.String())
	}
	return b.String()
}

// A Validator checks whole documents against a schema. It shares no code with
// the constraint engine, so that a mistake of one does not hide one of the
// other. Formats are asserted, references to other documents refused, patterns
// read as ECMA-262 has them. It is safe for concurrent use.
type Validator struct {
	schema *jsonschema.Schema
}

// drafts are named as schema.Report names them.
var drafts = map[string]*jsonschema.Draft{
	"draft-04": jsonschema.Draft4,
	"draft-06": jsonschema.Draft6,
	"draft-07": jsonschema.Draft7,
	"2019-09":  jsonschema.Draft2019,
	"2020-12":  jsonschema.Draft2020,
}

// NewValidator compiles a schema as the named draft, as schema.Report names
// it, whatever its $schema says.
func NewValidator(src []byte, draft string) (*Validator, error) {
	version := drafts[draft]
	if version == nil {
		return nil, fmt.Errorf("engine: validator: unknown draft %q", draft)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(src))
	if err != nil {
		return nil, fmt.Errorf("engine: validator: %w", err)
	}
	if object, ok := doc.(map[string]any); ok {
		delete(object, "$schema")
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(version)
	c.AssertFormat()
	c.UseLoader(nothingRemote{})
	c.UseRegexpEngine(compilePattern)
	// Two formats that the library knows and no draft does: annotations.
	for _, name := range []string{"period", "semver"} {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	const url = "mem:///schema.json"
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("engine: validator: %w", err)
	}
	compiled, err := c.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("engine: validator: %w", err)
	}
	return &Validator{schema: compiled}, nil
}

// Validate returns nil when the document fits, an *InvalidDocumentError when
// it does not, ErrUndecided when that can't be told.
func (v *Validator) Validate(document []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return &InvalidDocumentError{[]schema.Issue{{Reason: err.Error()}}}
	}
	before := overruns.Load()
	err = v.schema.Validate(doc)
	if overruns.Load() != before {
		return ErrUndecided
	}
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		return &InvalidDocumentError{leaves(nil, invalid)}
	}
	return err
}

// maxLeaves is how many mistakes of one document are listed.
const maxLeaves = 32

// leaves collects the innermost causes of an error, which are what is wrong;
// the others say which keywords they make fail.
func leaves(list []schema.Issue, e *jsonschema.ValidationError) []schema.Issue {
	if len(e.Causes) == 0 && len(list) < maxLeaves {
		issue := schema.Issue{
			Pointer: pointer(e.InstanceLocation),
			Reason:  e.ErrorKind.LocalizedString(message.NewPrinter(language.English)),
		}
		if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
			issue.Keyword = path[0]
		}
		list = append(list, issue)
	}
	for _, c := range e.Causes {
		list = leaves(list, c)
	}
	return list
}

var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

func pointer(path []string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteByte('/')
		b.WriteString(pointerEscape.Replace(p))
	}
	return b.String()
}

// nothingRemote refuses to fetch other documents.
type nothingRemote struct{}

func (nothingRemote) Load(url string) (any, error) {
	return nil, fmt.Errorf("reference to %s: other documents are not fetched", url)
}

// patternTimeout ends a match that backtracks without end.
const patternTimeout = time.Second

// overruns counts the matches that were ended. The library's interface leaves
// no other way out of a match than true or false; a verdict is void when the
// count has changed, in doubt because of another document's.
var overruns atomic.Uint64

type ecmaPattern struct{ *regexp2.Regexp }

func compilePattern(src string) (jsonschema.Regexp, error) {
	re, err := regexp2.Compile(shortCategories.Replace(src), regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = patternTimeout
	return ecmaPattern{re}, nil
}

// MatchString reports whether the pattern matches anywhere in s.
func (p ecmaPattern) MatchString(s string) bool {
	ok, err := p.Regexp.MatchString(s)
	if err != nil {
		overruns.Add(1)
	}
	return ok
}

// shortCategories rewrites the long names of general categories that ECMA-262
// has to the short ones that the pattern library knows.
var shortCategories = strings.NewReplacer(
	"{Letter}", "{L}", "{Lowercase_Letter}", "{Ll}", "{Uppercase_Letter}", "{Lu}", "{Mark}", "{M}", "{Number}", "{N}",
	"{Decimal_Number}", "{Nd}", "{Punctuation}", "{P}", "{Symbol}", "{S}", "{Separator}", "{Z}",
)
