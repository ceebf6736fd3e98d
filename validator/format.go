package validator

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// formats holds the asserted formats by name. Where a library checks them right, it does.
var formats = sync.OnceValue(func() map[string]func(any) error {
	out := map[string]func(any) error{}
	for _, name := range []string{
		"json-pointer", "relative-json-pointer", "uuid", "duration", "ipv6", "email", "date", "time", "date-time",
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
		"ipv4": ipv4, "hostname": asciiHostname, "idn-hostname": wideHostname, "regex": ecmaPattern,
	} {
		out[name] = text(check)
	}
	// The library takes signs for digits, and leaves out units of durations.
	for name, shape := range map[string]*regexp.Regexp{"time": timeShape, "date-time": dateTimeShape, "duration": durationShape} {
		values := out[name]
		out[name] = text(func(s string) error {
			if !shape.MatchString(s) {
				return errors.New("it has not the form of RFC 3339")
			}
			return values(s)
		})
	}
	address := out["email"]
	out["email"] = text(func(s string) error { return email(s, false, address) })
	out["idn-email"] = text(func(s string) error { return email(s, true, address) })
	return out
})

// email checks an address: its domain by the rules for names, unless it is an address in brackets, and the rest by those
// of RFC 5321. In a wide one, characters outside of ASCII count as letters (RFC 6531).
func email(s string, wide bool, address func(any) error) error {
	at := strings.LastIndexByte(s, '@')
	if at <= 0 {
		return errors.New("there is no local part")
	}
	local, domain := s[:at], s[at+1:]
	if !strings.HasPrefix(domain, "[") {
		check := asciiHostname
		if wide {
			check = wideHostname
		}
		if err := check(domain); err != nil {
			return err
		}
		domain = "example.com"
	}
	if wide {
		local = strings.Map(func(r rune) rune {
			if r >= utf8.RuneSelf {
				return 'a'
			}
			return r
		}, local)
	}
	return address(local + "@" + domain)
}

var (
	patternGroup  = regexp.MustCompile(`^\(\?(:|=|!|<=|<!|<[^>]+>|[ims-]+:)`)
	patternEscape = regexp.MustCompile(`^\\([^A-Za-z]|[dDsSwWbBfnrtv]|c[A-Za-z]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]+\}|[pP]\{[^}]+\}|k<[^>]+>)`)
)

// ecmaPattern checks a regular expression of ECMA-262. Pattern libraries take groups and escapes of other languages too.
func ecmaPattern(s string) error {
	inClass := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			if !patternEscape.MatchString(s[i:]) {
				return fmt.Errorf("offset %d: an escape that ECMA-262 does not have", i)
			}
			i++
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		case c == '(' && !inClass && strings.HasPrefix(s[i:], "(?") && !patternGroup.MatchString(s[i:]):
			return fmt.Errorf("offset %d: a group that ECMA-262 does not have", i)
		}
	}
	_, err := NewPattern(s)
	return err
}

const timeOfDay = `[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$`

var (
	timeShape     = regexp.MustCompile("^" + timeOfDay)
	dateTimeShape = regexp.MustCompile("^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt]" + timeOfDay)
	durationShape = regexp.MustCompile(`^P([0-9]+W|([0-9]+D|[0-9]+M([0-9]+D)?|[0-9]+Y([0-9]+M([0-9]+D)?)?)(T(` + durationTime + `))?|T(` + durationTime + `))$`)
)

const durationTime = `[0-9]+H([0-9]+M([0-9]+S)?)?|[0-9]+M([0-9]+S)?|[0-9]+S`

// ipv4 checks four decimal numbers without leading zeros.
func ipv4(s string) error {
	a, err := netip.ParseAddr(s)
	if err == nil && !a.Is4() {
		err = errors.New("it is an IPv6 address")
	}
	return err
}
