package validator

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/internal/shared"
)

// Texts that only the grammars of RFC 3986, 3987, 6570, 2673 and 3339 decide. Of ajv-formats and
// Python's jsonschema, at least one judges each of them so; where the two agree with each other, they do with us.
func TestFormats(t *testing.T) {
	for _, c := range []struct {
		format   string
		yes, not []string
	}{
		{"uri", []string{"http://example.com/a?b=c#d", "mailto:a@b.org", "urn:isbn:0451450523", "ftp://u:p@h.example:21/x", "http://[::1]:80/", "http://a%20b", "a:", "http://a/%20b?x/?y#z/?"},
			[]string{"", "a", "//a", "ftp://u:p@h]a(b:21/x", "http://a/ 20b", "http://a/%2", "http://a/%20[", "htt://example.com/a?b=c##d", `http://"example.com/`, "http:`/x", "http://[::1", "http://[1.2.3.4]/", "http://é/", "h_t:x", "http://a/\\b", "http://a:b/"}},
		{"uri-reference", []string{"", "/a/b?c", "../x", "#frag", "a:b", "//h/p", "?q=1", "a%20b", "./a:b", "/a:b"},
			[]string{"!not a uri-reference!", " #frag", "ab ", "##frag", "#<rag", "#f{rag", "#r^g", "#fr\u00a0g", ":b", "1:b", "a\u200bb", "\"a", "//[x]/"}},
		{"iri", []string{"http://exämple.org/ö?ü#ß", "http://exämple.o@g/ö", "http://ü:1/"}, []string{"/ä", "http://exämple.org/ö ", "http://ä/<"}},
		{"iri-reference", []string{"/ä/b", "#ö", "a", "?\ue000"}, []string{"/ä b", "#ö#", "\ue000", "\u0080"}},
		{"uri-template", []string{"", "http://e.com/{id}", "/a{?q,r*}", "{+x}{#y}", "{a:3}", "$/a{?q,r*}", "-{a:3}", "/1{?q,r*}", "{a.b%20c}", "{|x}", "ä{x}"},
			[]string{"/?{?`,r*}", "/a?q,r*}", "/a{)q,r*}", "{+x}#y}", "{a:0}", "{a:10000}", "{a", "{}", "{a,}", "{a..b}", "a b", "%2{x}"}},
		{"ipv4", []string{"1.2.3.4", "255.255.255.255"}, []string{"0.0.-0.0", "1.2.3.+4", "01.2.3.4", "1.2.3", "::1", "1.2.3.256"}},
		{"time", []string{"12:00:00Z", "23:59:60Z", "01:02:03.123+05:30"}, []string{"12:00:00", "12:+0:00Z", "12:00:00.Z", "24:00:00Z", "12:00:00+5:30"}},
		{"date-time", []string{"2020-01-31T12:00:00Z", "1990-12-31T23:59:60Z", "2020-01-31t12:00:00.5+01:00"},
			[]string{"2020-01-31T12:+0:00.52+01:00", "2020-02-30T12:00:00Z", "2020-01-31 12:00:00Z", "2020-01-31T12:00:00"}},
	} {
		s, err := Compile(t.Context(), []byte(`{"format": "`+c.format+`"}`), "2020-12")
		if err != nil {
			t.Fatal(err)
		}
		for i, list := range [][]string{c.yes, c.not} {
			for _, text := range list {
				document, err := json.Marshal(text)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Validate(t.Context(), document); (err == nil) != (i == 0) {
					t.Errorf("%s, %q: %v", c.format, text, err)
				}
			}
		}
	}
}

// TestFormatSuite runs the official test suite's cases of formats, of all drafts.
func TestFormatSuite(t *testing.T) {
	drafts := map[string]string{"draft4": "draft-04", "draft6": "draft-06", "draft7": "draft-07", "draft2019-09": "2019-09", "draft2020-12": "2020-12"}
	cases := 0
	shared.Members(t, "json-schema-test-suite/json-schema-test-suite.tar.xz", func(name string, data []byte) {
		dir, file := path.Split(name)
		dir, ok := strings.CutSuffix(dir, "/optional/format/")
		draft := drafts[path.Base(dir)]
		if !ok || draft == "" || path.Ext(file) != ".json" {
			return
		}
		var groups []struct {
			Description string
			Schema      json.RawMessage
			Tests       []struct {
				Description string
				Data        json.RawMessage
				Valid       bool
			}
		}
		if err := json.Unmarshal(data, &groups); err != nil {
			t.Fatal(err)
		}
		for _, g := range groups {
			s, err := Compile(t.Context(), g.Schema, draft)
			if err != nil {
				t.Errorf("%s: %s: %v", name, g.Description, err)
				continue
			}
			for _, c := range g.Tests {
				cases++
				if err := s.Validate(t.Context(), c.Data); (err == nil) != c.Valid {
					t.Errorf("%s: %s: %s: %v", name, g.Description, c.Description, err)
				}
			}
		}
	})
	if cases < 1000 {
		t.Errorf("only %d cases were found", cases)
	}
}

// A format is checked in memory and time linear in the text, whatever the text.
func TestFormatsOfLongTexts(t *testing.T) {
	const size = 1 << 17
	for name, check := range formats() {
		for _, start := range []string{"", "a@", `"`, "http://", "http://[", "a@[", "[IPv6:", "12:00:00.", "2020-01-01T12:00:00.", "P", "::", "fe80::1%", "xn--", "(?=a)", "{"} {
			for _, part := range []string{"(", "(?<", `\k<`, `\p{L}`, "[", `\`, "a", "0", ".", "a.", "/", "~0", "%41", "{a}", ":", "-", "1Y", "\u30fb", "\u0660", "\u00b7", "\U0001f4a9", ",a"} {
				long := start + strings.Repeat(part, size/len(part))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				err := check(long)
				runtime.ReadMemStats(&after)
				if took := after.TotalAlloc - before.TotalAlloc; took > 8*size {
					t.Errorf("%s, %q and many of %q: %d MiB", name, start, part, took>>20)
				}
				if err != nil && len(err.Error()) > 1<<10 {
					t.Errorf("%s, %q and many of %q: an error of %d bytes", name, start, part, len(err.Error()))
				}
			}
		}
	}
}

// The longest regular expressions of the format regex, and the patterns of a schema, take no more memory than they may.
func TestPatternsOfLongTexts(t *testing.T) {
	for _, part := range []string{"(", "(?:", "(?<", `\k<`, `\p{L}`, `\p{`, `\u{`, "[", `\`, "a", ".", "a*", "(a)", "|", "(a|", "(?=", `\1`, "a{1000}", "[^a]", "[^"} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = ecmaPattern(strings.Repeat(part, MaxPattern/len(part)))
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > MaxPattern*6<<10 {
			t.Errorf("many of %q: %d MiB", part, took>>20)
		}
	}
	s, err := Compile(t.Context(), []byte(`{"format": "regex"}`), "2020-12")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(t.Context(), []byte(`"`+strings.Repeat("(", MaxPattern+1)+`"`)); !errors.Is(err, ErrUndecided) {
		t.Errorf("a long text: %.200v", err)
	}
	for _, pattern := range []string{strings.Repeat("(", MaxPattern), strings.Repeat("a", MaxPattern-1)} {
		var schema strings.Builder
		schema.WriteString(`{"allOf": [{}`)
		for i := range 5 {
			fmt.Fprintf(&schema, `, {"pattern": "%d%s"}`, i, pattern)
		}
		if _, err := Compile(t.Context(), []byte(schema.String()+"]}"), "2020-12"); !errors.Is(err, ErrUndecided) {
			t.Errorf("patterns %.9s… of %d bytes: %.200v", pattern, 1+len(pattern), err)
		}
	}
}
