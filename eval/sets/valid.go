package sets

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// noLoader keeps schemas from loading files and URLs.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("sets: %s is not loaded", url)
}

// validator compiles a schema.
func validator(source []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(source))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	const name = "mem:///schema.json"
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	return c.Compile(name)
}

// fits reports whether text is one JSON document that fits the schema.
func fits(s *jsonschema.Schema, text []byte) bool {
	if err := plain(text); err != nil {
		return false
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	return err == nil && s.Validate(v) == nil
}

// maxExponent is larger than any exponent in the sets, and small enough for the
// validator, which expands numbers to fractions.
const maxExponent = 400

// plain returns an error unless text is one JSON document whose numbers the
// validator can handle.
func plain(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var whole json.RawMessage
	if err := d.Decode(&whole); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("sets: text after the document")
	}
	d = json.NewDecoder(bytes.NewReader(whole))
	d.UseNumber()
	for {
		t, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if n, ok := t.(json.Number); ok && !moderate(string(n)) {
			return fmt.Errorf("sets: the number %.40s is too large", n)
		}
	}
}

// moderate reports whether the exponent of a number is small enough to compute with.
func moderate(number string) bool {
	_, e, ok := strings.Cut(strings.ToLower(number), "e")
	if !ok {
		return true
	}
	n, err := strconv.Atoi(e)
	return err == nil && n <= maxExponent && n >= -maxExponent
}

// documentOf returns a function that validates documents: against the schema or,
// without one, as an object.
func documentOf(schema json.RawMessage) (func(Answer) bool, error) {
	if schema == nil {
		schema = json.RawMessage(`{"type": "object"}`)
	}
	s, err := validator(schema)
	if err != nil {
		return nil, err
	}
	return func(a Answer) bool { return a.Document != nil && fits(s, a.Document) }, nil
}

// callsOf returns a function that validates calls: at least one call, each of a
// known tool with arguments that fit.
func callsOf(tools []Tool) (func(Answer) bool, error) {
	by := map[string]*jsonschema.Schema{}
	for _, t := range tools {
		s, err := validator(t.Parameters)
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", t.Name, err)
		}
		by[t.Name] = s
	}
	return func(a Answer) bool {
		for _, c := range a.Calls {
			if s := by[c.Name]; s == nil || !fits(s, []byte(c.Arguments)) {
				return false
			}
		}
		return len(a.Calls) > 0
	}, nil
}
