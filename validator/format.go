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
		"uuid", "duration", "ipv6", "email", "date", "time", "date-time",
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
		"json-pointer": jsonPointer, "relative-json-pointer": relativePointer,
		"ipv4": ipv4, "hostname": asciiHostname, "idn-hostname": wideHostname, "regex": ecmaPattern, // which may be undecided
	} {
		out[name] = text(check)
	}
	// The library takes signs for digits, and leaves out units of durations;
	for name, shape := range map[string]*regexp.Regexp{"time": timeShape, "date-time": dateTimeShape, "duration": durationShape} {
		values := out[name]
		out[name] = text(func(s string) error {
			if !shape.MatchString(s) {
				return errors.New("it has not the form of RFC 3339")
			}
			return values(s)
		})
	}
	// Errors about these repeat the text.
	for _, name := range []string{"uuid", "ipv4", "ipv6", "date"} {
		check := out[name]
		out[name] = text(func(s string) error {
			if len(s) > longestFixed {
				return errors.New("it is too long")
			}
			return check(s)
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
	if len(s) > utf8.UTFMax*(longestLocal+1+longestName) {
		return errors.New("it is too long")
	}
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

// longestFixed is more than the longest date, UUID or address.
const longestFixed = 64

// longestLocal is the longest part before the @ by RFC 5321, in characters.
const longestLocal = 64

// What begins groups and escapes; names are looked for apart, which is faster where many of them don't end.
var (
	patternGroup  = regexp.MustCompile(`^\(\?(:|=|!|<=|<!|<|[ims-]+:)`)
	patternEscape = regexp.MustCompile(`^\\([^A-Za-z]|[dDsSwWbBfnrtv]|c[A-Za-z]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]+\}|[pP]\{|k<)`)
)

// begins reports whether s begins with a match of start and, if that opens a name, with the name and its end.
func begins(start *regexp.Regexp, s string) bool {
	n := len(start.FindString(s))
	if n == 0 || s[n-1] != '<' && s[n-1] != '{' || s[n-2] == '\\' {
		return n > 0
	}
	return strings.IndexByte(s[n:], map[byte]byte{'<': '>', '{': '}'}[s[n-1]]) > 0
}

// ecmaPattern checks a regular expression of ECMA-262. Pattern libraries take groups and escapes of other languages too.
// The error is ErrUndecided if the expression is too long.
func ecmaPattern(s string) error {
	if len(s) > MaxPattern {
		return errLongPattern
	}
	inClass := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			if !begins(patternEscape, s[i:]) {
				return fmt.Errorf("offset %d: an escape that ECMA-262 does not have", i)
			}
			i++
		case c == '[':
			inClass = true
		case c == ']':
			inClass = false
		case c == '(' && !inClass && strings.HasPrefix(s[i:], "(?") && !begins(patternGroup, s[i:]):
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

// jsonPointer checks a pointer of RFC 6901.
func jsonPointer(s string) error {
	if s != "" && s[0] != '/' {
		return errors.New("it does not start with /")
	}
	for {
		_, after, found := strings.Cut(s, "~")
		if !found {
			return nil
		}
		if s = after; s == "" || s[0] != '0' && s[0] != '1' {
			return errors.New("~ is followed by neither 0 nor 1")
		}
	}
}

var upwards = regexp.MustCompile("^(0|[1-9][0-9]*)")

// relativePointer checks a relative pointer of draft-bhutton-relative-json-pointer-00.
func relativePointer(s string) error {
	n := len(upwards.FindString(s))
	if n == 0 {
		return errors.New("it does not start with a number")
	}
	if s = s[n:]; s == "#" {
		return nil
	}
	return jsonPointer(s)
}
