package validator

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
)

// The syntax of RFC 3986, RFC 3987 and RFC 6570, which net/url reads far more widely: it takes spaces, quotes and stray
// brackets, and refuses percent-encoded hosts.

// subDelims are the sub-delimiters of RFC 3986.
const subDelims = "!$&'()*+,;="

// A uriReader checks texts. With wide, characters outside of ASCII are allowed, as in RFC 3987.
type uriReader struct{ wide bool }

var schemeStart = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:`)

// uri checks a URI.
func (u uriReader) uri(s string) error {
	scheme := schemeStart.FindString(s)
	if scheme == "" {
		return errors.New("there is no scheme")
	}
	return u.afterScheme(s[len(scheme):])
}

// reference checks a URI, or a reference relative to one.
func (u uriReader) reference(s string) error {
	if scheme := schemeStart.FindString(s); scheme != "" {
		return u.afterScheme(s[len(scheme):])
	}
	if path := s[:len(s)-len(strings.TrimLeft(s, "/"))]; path == "" {
		end := strings.IndexAny(s, "/?#")
		if end < 0 {
			end = len(s)
		}
		if strings.Contains(s[:end], ":") {
			return errors.New("there is no scheme before the colon")
		}
	}
	return u.afterScheme(s)
}

func (u uriReader) afterScheme(s string) error {
	s, fragment, _ := strings.Cut(s, "#")
	s, query, _ := strings.Cut(s, "?")
	if err := u.characters("fragment", fragment, subDelims+":@/?", false); err != nil {
		return err
	}
	if err := u.characters("query", query, subDelims+":@/?", true); err != nil {
		return err
	}
	if after, ok := strings.CutPrefix(s, "//"); ok {
		end := strings.IndexByte(after, '/')
		if end < 0 {
			end = len(after)
		}
		if err := u.authority(after[:end]); err != nil {
			return err
		}
		s = after[end:]
	}
	return u.characters("path", s, subDelims+":@/", false)
}

var (
	port      = regexp.MustCompile(`^(:[0-9]*)?$`)
	ipvFuture = regexp.MustCompile(`^[vV][0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+$`)
)

func (u uriReader) authority(s string) error {
	if user, rest, found := strings.Cut(s, "@"); found {
		if err := u.characters("user", user, subDelims+":", false); err != nil {
			return err
		}
		s = rest
	}
	if inside, ok := strings.CutPrefix(s, "["); ok {
		address, after, found := strings.Cut(inside, "]")
		ip, err := netip.ParseAddr(address)
		if !found || !port.MatchString(after) || (err != nil || !ip.Is6() || ip.Zone() != "") && !ipvFuture.MatchString(address) {
			return fmt.Errorf("%s is no host", quote(s))
		}
		return nil
	}
	host := strings.TrimRight(s, "0123456789")
	if name, ok := strings.CutSuffix(host, ":"); ok {
		s = name
	}
	return u.characters("host", s, subDelims, false)
}

// characters checks that a part has unreserved characters, percent-encoded bytes and those of more alone.
func (u uriReader) characters(part, s, more string, private bool) error {
	for i, r := range s {
		switch {
		case r == '%':
			if !encoded(s[i:]) {
				return fmt.Errorf("%% in the %s is followed by no two hexadecimal digits", part)
			}
		case isAlphanumeric(r), strings.ContainsRune("-._~", r), strings.ContainsRune(more, r):
		case u.wide && (isUCS(r) || private && isPrivate(r)):
		default:
			return fmt.Errorf("%q in the %s has to be percent-encoded", r, part)
		}
	}
	return nil
}

// encoded reports whether a text begins with a percent-encoded byte.
func encoded(s string) bool { return len(s) >= 3 && s[0] == '%' && isHex(s[1]) && isHex(s[2]) }

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

func isAlphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}

// isUCS is ucschar of RFC 3987.
func isUCS(r rune) bool {
	switch {
	case r >= 0xA0 && r <= 0xD7FF, r >= 0xF900 && r <= 0xFDCF, r >= 0xFDF0 && r <= 0xFFEF:
		return true
	case r >= 0x10000 && r <= 0xEFFFF:
		return r&0xFFFF <= 0xFFFD && (r < 0xE0000 || r >= 0xE1000)
	}
	return false
}

// isPrivate is iprivate of RFC 3987.
func isPrivate(r rune) bool {
	return r >= 0xE000 && r <= 0xF8FF || r >= 0xF0000 && r <= 0xFFFFD || r >= 0x100000 && r <= 0x10FFFD
}

// expression is what stands between braces in a URI template, RFC 6570, section 2.2. The operators that are reserved for
// extensions are allowed.
var expression = regexp.MustCompile(`^[+#./;?&=,!@|]?` + varspec + `(,` + varspec + `)*$`)

const (
	varchar = `([A-Za-z0-9_]|%[0-9A-Fa-f]{2})`
	varspec = varchar + `(\.?` + varchar + `)*(:[1-9][0-9]{0,3}|\*)?`
)

// template checks a URI template.
func template(s string) error {
	for s != "" {
		literal, rest, open := strings.Cut(s, "{")
		for i, r := range literal {
			switch {
			case r == '%':
				if !encoded(literal[i:]) {
					return errors.New("% is followed by no two hexadecimal digits")
				}
			case r <= ' ' || r == 0x7F || strings.ContainsRune("\"<>\\^`|}", r), r > 0x7F && !isUCS(r) && !isPrivate(r):
				return fmt.Errorf("%q is not allowed outside of expressions", r)
			}
		}
		if !open {
			return nil
		}
		inside, after, closed := strings.Cut(rest, "}")
		if !closed || !expression.MatchString(inside) {
			return fmt.Errorf("%s is no expression", quote("{"+inside))
		}
		s = after
	}
	return nil
}
