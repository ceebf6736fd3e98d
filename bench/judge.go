package bench

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// judge is the independent validator: santhosh-tekuri/jsonschema with formats
// asserted, no remote references, and patterns in ECMA-262 syntax.
type judge struct {
	schema  *jsonschema.Schema
	draft4  bool
	overrun *atomic.Bool // a pattern reached its time limit, so the verdict is void
}

// errUndecided is the verdict if the judge can't decide: a pattern took too long, or
// the document contains something that the validator gets wrong.
var errUndecided = errors.New("bench: the validator cannot decide")

// largestExponent is larger than the exponent of any number that documents need, and
// small enough for the validator, which treats much larger numbers as fractions.
const largestExponent = 1000

// isBeyond reports whether a value contains something that the validator gets wrong:
// a number that is too large for it, or a line or paragraph separator, which "." in
// its patterns matches.
//
// In draft 4, a number with a fraction or an exponent is not an integer; to the
// validator, 1.0 is an integer in every draft.
func isBeyond(v *value, draft4 bool) bool {
	const separators = "\u2028\u2029"
	switch {
	case v.kind == kindNumber:
		_, exponent := numberSize(v.text)
		return exponent > largestExponent || exponent < -largestExponent || draft4 && strings.ContainsAny(v.text, ".eE")
	case v.kind == kindString:
		return strings.ContainsAny(v.text, separators)
	}
	return slices.ContainsFunc(v.items, func(v *value) bool { return isBeyond(v, draft4) }) ||
		slices.ContainsFunc(v.keys, func(k string) bool { return strings.ContainsAny(k, separators) })
}

// judgeURL is the URL of the schema for the validator.
const judgeURL = "mem:///schema.json"

// metaschemas maps the values of [Constraint.Draft] to drafts of the validator.
var metaschemas = map[string]*jsonschema.Draft{
	"draft-04": jsonschema.Draft4,
	"draft-06": jsonschema.Draft6,
	"draft-07": jsonschema.Draft7,
	"2019-09":  jsonschema.Draft2019,
	"2020-12":  jsonschema.Draft2020,
}

// newJudge compiles schema as the given draft, regardless of its $schema.
func newJudge(schema []byte, draft string) (*judge, error) {
	metaschema := metaschemas[draft]
	if metaschema == nil {
		return nil, fmt.Errorf("bench: validator: unknown draft %q", draft)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, fmt.Errorf("bench: validator: %w", err)
	}
	if object, ok := doc.(map[string]any); ok {
		delete(object, "$schema")
	}
	j := &judge{draft4: draft == "draft-04", overrun: new(atomic.Bool)}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(metaschema)
	c.AssertFormat()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(j.pattern)
	// The validator asserts formats that no draft defines; stencil, like the drafts,
	// treats them as annotations.
	for _, name := range []string{"period", "semver"} {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(any) error { return nil }})
	}
	if err := c.AddResource(judgeURL, doc); err != nil {
		return nil, fmt.Errorf("bench: validator: %w", err)
	}
	if j.schema, err = c.Compile(judgeURL); err != nil {
		return nil, fmt.Errorf("bench: validator: %w", err)
	}
	return j, nil
}

// validate returns nil if the schema accepts the document, [errUndecided] if the
// judge can't decide, and the validation error otherwise.
func (j *judge) validate(document []byte) error {
	if v, err := parseValue(document); err == nil && isBeyond(v, j.draft4) {
		return errUndecided
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return err
	}
	j.overrun.Store(false)
	err = j.schema.Validate(doc)
	if j.overrun.Load() {
		return errUndecided
	}
	return err
}

// noLoader is a loader that never fetches anything.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("remote reference to %s", url)
}

// patternTimeout limits the time of a pattern that backtracks excessively.
const patternTimeout = 2 * time.Second

// ecmaPattern is an ECMA-262 regular expression.
type ecmaPattern struct {
	re      *regexp2.Regexp
	overrun *atomic.Bool
}

func (j *judge) pattern(source string) (jsonschema.Regexp, error) {
	re, err := regexp2.Compile(longProperties.Replace(source), regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = patternTimeout
	return &ecmaPattern{re, j.overrun}, nil
}

// longProperties replaces the long names of general categories in ECMA-262 by the
// short ones that the library supports.
var longProperties = strings.NewReplacer(
	`{Letter}`, `{L}`, `{Lowercase_Letter}`, `{Ll}`, `{Uppercase_Letter}`, `{Lu}`, `{Number}`, `{N}`,
	`{Decimal_Number}`, `{Nd}`, `{digit}`, `{Nd}`, `{Mark}`, `{M}`, `{Punctuation}`, `{P}`, `{Symbol}`, `{S}`,
	`{Separator}`, `{Z}`, `{Script=Latin}`, `{Latin}`, `{Script=Greek}`, `{Greek}`, `{Script=Cyrillic}`, `{Cyrillic}`,
)

// MatchString reports whether the pattern matches anywhere in s.
func (p *ecmaPattern) MatchString(s string) bool {
	ok, err := p.re.MatchString(s)
	if err != nil {
		p.overrun.Store(true)
	}
	return ok
}

// String returns the pattern's source.
func (p *ecmaPattern) String() string { return p.re.String() }
