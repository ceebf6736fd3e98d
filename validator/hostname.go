package validator

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// The longest label and name of RFC 1035, in bytes of ASCII.
const (
	longestLabel = 63
	longestName  = 253
)

var (
	letterDigitHyphen = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$`)

	// dots are separators of labels in internationalized names, RFC 3490, section 3.1.
	dots = strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".")

	labels = idna.New(idna.ValidateLabels(true), idna.CheckHyphens(true), idna.CheckJoiners(true), idna.BidiRule(), idna.StrictDomainName(true))
	names  = idna.New(idna.ValidateLabels(true), idna.CheckHyphens(false), idna.CheckJoiners(true), idna.BidiRule())
	mapped = idna.New(idna.MapForLookup())
)

// asciiHostname checks a name of RFC 1123, whose labels may be A-labels of RFC 5890.
func asciiHostname(s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return errors.New("there are characters outside of ASCII")
	}
	return hostname(s)
}

// wideHostname checks a name of RFC 5890.
func wideHostname(s string) error { return hostname(dots.Replace(s)) }

func hostname(s string) error {
	if len(s) > utf8.UTFMax*longestName { // a character is a byte of ASCII or more; the work below isn't linear
		return fmt.Errorf("it is longer than %d bytes", longestName)
	}
	length := -1
	all := strings.Split(s, ".")
	for i, label := range all {
		unicode, ascii, err := readLabel(label)
		if err != nil {
			return fmt.Errorf("label %s: %w", quote(label), err)
		}
		if len(ascii) > longestLabel {
			return fmt.Errorf("label %s is longer than %d bytes", quote(label), longestLabel)
		}
		all[i] = unicode
		length += len(ascii) + 1
	}
	if length > longestName {
		return fmt.Errorf("it is longer than %d bytes", longestName)
	}
	_, err := names.ToASCII(strings.Join(all, ".")) // the rules for names in both directions are about all labels
	return err
}

// readLabel checks a label and returns it in both forms.
func readLabel(label string) (wide, ascii string, err error) {
	if strings.ContainsFunc(label, func(r rune) bool { return r >= utf8.RuneSelf }) {
		ascii, err = checkLabel(label)
		return label, ascii, err
	}
	if !letterDigitHyphen.MatchString(label) {
		return "", "", errors.New("it is not made of letters, digits, and hyphens between them")
	}
	ascii = strings.ToLower(label)
	encoded, ok := strings.CutPrefix(ascii, "xn--")
	if !ok {
		return ascii, ascii, nil
	}
	if wide, err = idna.Punycode.ToUnicode(ascii); err != nil {
		return "", "", err
	}
	if again, err := idna.Punycode.ToASCII(wide); err != nil || again != "xn--"+encoded {
		return "", "", errors.New("it is not the Punycode of a label outside of ASCII")
	}
	if same, err := mapped.ToUnicode(wide); err != nil || same != wide {
		return "", "", errors.New("it has characters that stand for others")
	}
	_, err = checkLabel(wide)
	return wide, ascii, err
}

// checkLabel checks a label outside of ASCII, and returns its A-label: by package idna, the rules of RFC 5892, appendix A,
// that it leaves out, and those for what a label begins with.
func checkLabel(label string) (ascii string, err error) {
	runes := []rune(label)
	for i, r := range runes {
		before, after := rune(0), rune(0)
		if i > 0 {
			before = runes[i-1]
		}
		if i+1 < len(runes) {
			after = runes[i+1]
		}
		ok := true
		switch {
		case i == 0 && unicode.Is(unicode.M, r):
			ok = false
		case strings.ContainsRune("\u0640\u07fa\u302e\u302f\u3031\u3032\u3033\u3034\u3035\u303b", r):
			ok = false
		case r == '\u00b7': // middle dot
			ok = before == 'l' && after == 'l'
		case r == '\u0375': // Greek keraia
			ok = unicode.Is(unicode.Greek, after)
		case r == '\u05f3' || r == '\u05f4': // Hebrew geresh, gershayim
			ok = unicode.Is(unicode.Hebrew, before)
		case r == '\u30fb': // katakana middle dot
			ok = strings.ContainsFunc(label, func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han) })
		case r >= '\u0660' && r <= '\u0669': // Arabic-Indic digits
			ok = !strings.ContainsFunc(label, func(r rune) bool { return r >= '\u06f0' && r <= '\u06f9' })
		default:
			ok = unicode.In(r, unicode.Ll, unicode.Lo, unicode.Lm, unicode.Mn, unicode.Mc, unicode.Nd) || strings.ContainsRune("-\u200c\u200d\u06fd\u06fe\u0f0b\u3007", r)
		}
		if !ok {
			return "", fmt.Errorf("%q may not stand there", r)
		}
	}
	return labels.ToASCII(label)
}
