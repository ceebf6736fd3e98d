package validator

import (
	"errors"
	"net/netip"
	"regexp"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// formats holds the asserted formats by name. Where a library checks them right, it does.
var formats = sync.OnceValue(func() map[string]func(any) error {
	out := map[string]func(any) error{}
	for _, name := range []string{
		"json-pointer", "relative-json-pointer", "uuid", "duration", "ipv6", "hostname", "email", "date", "time", "date-time",
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
	text := func(check func(string) error) func(any) error {
		return func(v any) error {
			if s, ok := v.(string); ok {
				return check(s)
			}
			return nil
		}
	}
	ascii, wide := uriReader{}, uriReader{wide: true}
	for name, check := range map[string]func(string) error{
		"uri": ascii.uri, "uri-reference": ascii.reference, "iri": wide.uri, "iri-reference": wide.reference, "uri-template": template,
		"ipv4":  ipv4,
		"regex": func(s string) error { _, err := NewPattern(s); return err },
	} {
		out[name] = text(check)
	}
	// The library takes signs for digits.
	for name, shape := range map[string]*regexp.Regexp{"time": timeShape, "date-time": dateTimeShape} {
		values := out[name]
		out[name] = text(func(s string) error {
			if !shape.MatchString(s) {
				return errors.New("it has not the form of RFC 3339")
			}
			return values(s)
		})
	}
	return out
})

const timeOfDay = `[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$`

var (
	timeShape     = regexp.MustCompile("^" + timeOfDay)
	dateTimeShape = regexp.MustCompile("^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt]" + timeOfDay)
)

// ipv4 checks four decimal numbers without leading zeros.
func ipv4(s string) error {
	a, err := netip.ParseAddr(s)
	if err == nil && !a.Is4() {
		err = errors.New("it is an IPv6 address")
	}
	return err
}
