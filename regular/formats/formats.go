// Package formats holds the formats of JSON Schema as texts of patterns, in the syntax of package regular.
package formats

import (
	"fmt"
	"strconv"
	"strings"
)

// Patterns returns the patterns of the formats that are single patterns, by name, and those of the parts that others are
// composed from.
func Patterns() (formats, parts map[string]string) {
	const (
		hex       = `[0-9A-Fa-f]`
		label     = `[0-9A-Za-z](?:[0-9A-Za-z-]{0,61}[0-9A-Za-z])?`
		atom      = `[0-9A-Za-z!#-'*+/=?^_\x60{-~-]`
		idnAtom   = `[0-9A-Za-z!#-'*+/=?^_\x60{-~\x80-\u{10FFFF}-]`
		pointer   = `(?:/(?:[^/~]|~[01])*)*`
		variable  = `(?:[0-9A-Za-z_]|%` + hex + `{2})`
		varSpec   = variable + `(?:\.?` + variable + `)*(?::[1-9][0-9]{0,3}|\*)?`
		seconds   = `[0-9]+S`
		minutes   = `[0-9]+M(?:` + seconds + `)?`
		hours     = `[0-9]+H(?:` + minutes + `)?`
		ofDay     = `T(?:` + hours + `|` + minutes + `|` + seconds + `)`
		days      = `[0-9]+D`
		months    = `[0-9]+M(?:` + days + `)?`
		years     = `[0-9]+Y(?:` + months + `)?`
		leapYears = `(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)`
		year      = `(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)`
	)
	octet := `(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
	ipv4 := octet + `(?:\.` + octet + `){3}`
	group := hex + `{1,4}`
	// The last 32 bits of an IPv6 address, and the address by the number of groups
	// before the double colon.
	last := `(?:` + group + `:` + group + `|` + ipv4 + `)`
	forms := []string{`(?:` + group + `:){6}` + last, `::(?:` + group + `:){5}` + last}
	for n := range 5 {
		front := fmt.Sprintf(`(?:(?:%s:){0,%d}%s)?::`, group, n, group)
		rest := last
		if n < 4 {
			rest = fmt.Sprintf(`(?:%s:){%d}%s`, group, 4-n, last)
		}
		forms = append(forms, front+rest)
	}
	forms = append(forms,
		fmt.Sprintf(`(?:(?:%s:){0,5}%s)?::%s`, group, group, group),
		fmt.Sprintf(`(?:(?:%s:){0,6}%s)?::`, group, group))
	ipv6 := `(?:` + strings.Join(forms, "|") + `)`

	uri := uriPatterns(ipv6, "", "")
	iri := uriPatterns(ipv6, ucsChars, privateChars)
	literal := `(?:[!#$&'(-;=?-\[\]_a-z~` + ucsChars + privateChars + `]|%` + hex + `{2})`
	formats = map[string]string{
		"ipv4": ipv4,
		"ipv6": ipv6,
		"uuid": hex + `{8}(?:-` + hex + `{4}){3}-` + hex + `{12}`,
		"date": year + `-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)` +
			`|02-(?:0[1-9]|1[0-9]|2[0-8]))|` + leapYears + `-02-29`,
		"duration": `P(?:(?:` + days + `|` + months + `|` + years + `)(?:` + ofDay + `)?|` + ofDay + `|[0-9]+W)`,

		"json-pointer":          pointer,
		"relative-json-pointer": `(?:0|[1-9][0-9]*)(?:#|` + pointer + `)`,
		"uri":                   uri.absolute,
		"uri-reference":         uri.reference,
		"iri":                   iri.absolute,
		"iri-reference":         iri.reference,
		"uri-template":          `(?:` + literal + `|\{[+#./;?&]?` + varSpec + `(?:,` + varSpec + `)*\})*`,
	}
	for n := 1; n <= 8; n++ {
		formats[fmt.Sprintf("uuid%d", n)] = fmt.Sprintf(`%s{8}-%s{4}-%d%s{3}-[89abAB]%s{3}-%s{12}`, hex, hex, n, hex, hex, hex)
	}
	formats["base64"] = base64(`[0-9A-Za-z+/]`, `[AQgw]`, `[AEIMQUYcgkosw048]`, ``)
	formats["base64url"] = base64(`[0-9A-Za-z_-]`, `[AQgw]`, `[AEIMQUYcgkosw048]`, `?`)
	formats["ipv4interface"] = ipv4 + `/(?:3[0-2]|[12]?[0-9])`
	formats["ipv4network"] = strings.Join(ipv4Networks(octet), "|")
	parts = map[string]string{
		"hostname labels": label + `(?:\.` + label + `)*`,
		"local part":      `(?:` + atom + `+(?:\.` + atom + `+)*|"[ !#-\[\]-~]{0,62}")`,
		"idn local part":  `(?:` + idnAtom + `+(?:\.` + idnAtom + `+)*|"[ !#-\[\]-~\x80-\u{10FFFF}]{0,62}")`,
		"address":         `\[(?:` + ipv4 + `|IPv6:` + ipv6 + `)\]`,
	}
	return formats, parts
}

// base64 returns the pattern of RFC 4648, whose padding may be left out if optional is
// "?". The unused bits of the last character before the padding are zero.
func base64(char, before2, before1, optional string) string {
	return `(?:` + char + `{4})*(?:` + char + before2 + `(?:==)` + optional + `|` + char + `{2}` + before1 + `=` + optional + `)?`
}

// ipv4Networks returns a pattern for each length of prefix: the bits after it are
// zero.
func ipv4Networks(octet string) (list []string) {
	for n := range 33 {
		text := strings.Repeat(octet+`\.`, n/8)
		if bits := n % 8; bits > 0 {
			var values []string
			for v := 0; v < 256; v += 256 >> bits {
				values = append(values, strconv.Itoa(v))
			}
			text += `(?:` + strings.Join(values, "|") + `)\.`
		}
		text += strings.Repeat(`0\.`, 4-(n+7)/8)
		list = append(list, strings.TrimSuffix(text, `\.`)+fmt.Sprintf("/%d", n))
	}
	return list
}

const (
	// ucsChars and privateChars are the characters that RFC 3987 adds to those
	// of a URI, as members of a class.
	ucsChars = `\xA0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF` +
		`\u{10000}-\u{1FFFD}\u{20000}-\u{2FFFD}\u{30000}-\u{3FFFD}\u{40000}-\u{4FFFD}\u{50000}-\u{5FFFD}` +
		`\u{60000}-\u{6FFFD}\u{70000}-\u{7FFFD}\u{80000}-\u{8FFFD}\u{90000}-\u{9FFFD}\u{A0000}-\u{AFFFD}` +
		`\u{B0000}-\u{BFFFD}\u{C0000}-\u{CFFFD}\u{D0000}-\u{DFFFD}\u{E1000}-\u{EFFFD}`
	privateChars = `\uE000-\uF8FF\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}`
)

type uriPattern struct{ absolute, reference string }

// uriPatterns returns the patterns of RFC 3986, with more characters for RFC 3987.
func uriPatterns(ipv6, more, inQuery string) uriPattern {
	const percent = `%[0-9A-Fa-f]{2}`
	chars := `0-9A-Za-z._~!$&'()*+,;=` + more
	segment := `(?:[` + chars + `:@-]|` + percent + `)`
	host := `(?:\[` + ipv6 + `\]|(?:[` + chars + `-]|%[89A-Fa-f][0-9A-Fa-f])*)`
	if more != "" {
		host = `(?:\[(?:` + ipv6 + `|[Vv][0-9A-Fa-f]+\.[0-9A-Za-z._~!$&'()*+,;=-]+)\]|(?:[` + chars + `-]|%[89A-Fa-f][0-9A-Fa-f])*)`
	}
	authority := `(?:(?:[0-9A-Za-z._~!$&'()*+,;=:-]|` + percent + `)*@)?` + host + `(?::[0-9]*)?`
	segments := `(?:/` + segment + `*)*`
	rooted := `/(?:` + segment + `+` + segments + `)?`
	rootless := segment + `+` + segments
	noColon := `(?:[` + chars + `@-]|` + percent + `)+` + segments
	tail := `(?:\?(?:[` + chars + inQuery + `:@/?-]|` + percent + `)*)?(?:#(?:[` + chars + `:@/?-]|` + percent + `)*)?`
	scheme := `[A-Za-z][0-9A-Za-z+.-]*:`
	network := `//` + authority + segments
	return uriPattern{
		absolute: scheme + `(?:` + network + `|` + rooted + `|` + rootless + `|)` + tail,
		reference: `(?:` + scheme + `(?:` + network + `|` + rooted + `|` + rootless + `|)|` +
			network + `|` + rooted + `|` + noColon + `|)` + tail,
	}
}

// LoopCounts returns a pattern for what stands in the braces of a loop: a number of one digit or, if large, of up to two, and
// possibly a comma and a number that is not smaller.
func LoopCounts(large bool) string {
	out := `[0-9],?`
	for m := range 10 {
		out += fmt.Sprintf(`|%d,[%d-9]`, m, m)
	}
	if large {
		out += `|[1-9][0-9],?|[0-9],[1-9][0-9]`
		for tens := 1; tens < 9; tens++ {
			out += fmt.Sprintf(`|%d[0-9],[%d-9][0-9]`, tens, tens+1)
		}
		for m := 10; m < 100; m++ {
			out += fmt.Sprintf(`|%d,%d[%d-9]`, m, m/10, m%10)
		}
	}
	return out
}
