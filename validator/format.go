package validator

import (
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// formats holds the asserted formats by name. Their checks come from a library.
var formats = sync.OnceValue(func() map[string]func(any) error {
	out := map[string]func(any) error{}
	for _, name := range []string{
		"json-pointer", "relative-json-pointer", "uuid", "duration", "ipv4", "ipv6", "hostname", "email", "date", "time", "date-time",
		"uri", "iri", "uri-reference", "iri-reference", "uri-template",
	} {
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if c.AddResource("mem:///x", map[string]any{"format": name}) != nil {
			continue
		}
		s, err := c.Compile("mem:///x")
		if err == nil && s.Format != nil {
			out[name] = s.Format.Validate
		}
	}
	out["regex"] = func(v any) error {
		if s, ok := v.(string); ok {
			_, err := NewPattern(s)
			return err
		}
		return nil
	}
	return out
})
