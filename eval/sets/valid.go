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

// noLoader keeps schemas from naming files and addresses.
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

// fits tells whether text is one JSON document that the schema allows.
func fits(s *jsonschema.Schema, text []byte) bool {
	if err := plain(text); err != nil {
		return false
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	return err == nil && s.Validate(v) == nil
}

// maxExponent is beyond every number of the sets, and small enough for a
// validator that writes numbers out as fractions.
const maxExponent = 400

// plain returns an error for what isn't one JSON document or has a number that
// no validator can be asked about.
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

// moderate tells whether a number's exponent is one to compute with.
func moderate(number string) bool {
	_, e, ok := strings.Cut(strings.ToLower(number), "e")
	if !ok {
		return true
	}
	n, err := strconv.Atoi(e)
	return err == nil && n <= maxExponent && n >= -maxExponent
}

// documentOf is the case's own check of a document: that it fits the schema, or
// without one that it is an object.
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

// callsOf is the case's own check of calls: there are some, each of a tool that
// there is, with arguments that fit.
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
