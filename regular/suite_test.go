package regular

import (
	b64 "encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/regular/runes"
)

// suiteDepartures lists, by format, the cases of the JSON Schema Test Suite for
// which the formats give another result; see Format.
var suiteDepartures = map[string][]string{
	// Labels of a host name that start with xn-- aren't decoded.
	"hostname": {
		"xn--X", "xn--07jt112bpxg.xn--9t4b11yi5a", "xn--hello-txk", "xn--hello-zed", "xn--hello-6bf", "xn--chb89f",
		"xn--07jceefgh4c", "xn--al-0ea", "xn--l-fda", "xn--la-0ea", "xn--l-gda", "xn--S-jib3p", "xn--wva3j",
		"xn--A-2hc5h", "xn--5db1e", "xn--A-2hc8h", "xn--5db3e", "xn--defabc-k64e", "xn--vek", "xn--ngb6iyr",
		"xn--11b2er09f", "xn--02b508i", "XN--aa---o47jg78q",
	},
	"idn-hostname": {"xn--X", "XN--aa---o47jg78q", "xn--7a", "xn--0ca24w", "xn---9uc"},
	// Only what package regexp reads as well.
	"regex": {`(?<n>a)\k<n>`, `(?<=a+)b`, `[]`, `[^]`, `\cA`},
}

func TestFormatsOfSuite(t *testing.T) {
	s := NewStore(Limits{})
	cases := 0
	shared.Members(t, "json-schema-test-suite/json-schema-test-suite.tar.xz", func(path string, data []byte) {
		if !strings.HasSuffix(path, ".json") || !strings.Contains(path, "/optional/format/") || strings.Contains(path, "draft3") {
			return
		}
		var groups []struct {
			Schema struct{ Format string }
			Tests  []struct {
				Description string
				Data        any
				Valid       bool
			}
		}
		if err := json.Unmarshal(data, &groups); err != nil {
			t.Fatal(path, err)
		}
		for _, g := range groups {
			name := g.Schema.Format
			if name == "unknown" {
				continue
			}
			e, ok := s.Format(name)
			if !ok {
				t.Errorf("%s: no format %q", path, name)
				continue
			}
			m := compile(t, s, e)
			for _, c := range g.Tests {
				text, ok := c.Data.(string)
				if !ok {
					continue
				}
				cases++
				departs := slices.Contains(suiteDepartures[name], text)
				if got := accepts(t, m, text); (got == c.Valid) == departs {
					t.Errorf("%s: %q (%s): got %v", path, text, c.Description, got)
				}
			}
		}
	})
	t.Log(cases, "cases")
}

// TestLoopCounts compares the counts of the format "regex", of each number up to 99 and each pair of them, with package regexp.
func TestLoopCounts(t *testing.T) {
	s := NewStore(Limits{})
	e, _ := s.Format("regex")
	m, err := s.Compile(e)
	if err != nil {
		t.Fatal(err)
	}
	try := func(text string) {
		_, err := regexp.Compile(text)
		if got := accepts(t, m, text); got != (err == nil) {
			t.Errorf("%q: %v, regexp says %v", text, got, err)
		}
	}
	for low := range 100 {
		try(fmt.Sprintf("a{%d}", low))
		try(fmt.Sprintf("a{%d,}", low))
		for high := range 100 {
			try(fmt.Sprintf("a{%d,%d}", low, high))
			if low < 10 && high < 10 {
				try(fmt.Sprintf("(a{99}){%d,%d}?", low, high))
			}
		}
	}
}

// TestBase64 compares the formats with package encoding/base64, over all texts of five characters of a few.
func TestBase64(t *testing.T) {
	s := NewStore(Limits{})
	for name, encodings := range map[string][]*b64.Encoding{
		"base64":    {b64.StdEncoding},
		"base64url": {b64.URLEncoding, b64.RawURLEncoding}, // JWT, zod and the Web leave the padding out
	} {
		e, _ := s.Format(name)
		m, err := s.Compile(e)
		if err != nil {
			t.Fatal(err)
		}
		var try func(text string)
		try = func(text string) {
			want := slices.ContainsFunc(encodings, func(e *b64.Encoding) bool {
				_, err := e.Strict().DecodeString(text)
				return err == nil
			})
			if got := accepts(t, m, text); got != want {
				t.Errorf("%s: %q: got %v", name, text, got)
			}
			if len(text) < 6 {
				for _, c := range "AQbg8_+=" {
					try(text + string(c))
				}
			}
		}
		try("")
	}
}

// refusedPatterns lists the patterns of MaskBench's development half that are
// refused, with the reason.
var refusedPatterns = map[string]string{
	`^\s*<([A-Za-z]+).+?(\/>|\/\1>)\s*$`: "back-reference",
}

// sameInGo reports whether this package and regexp have to agree on a text:
// they differ on line ends and on white space beyond ASCII.
func sameInGo(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r != ' ' && r != '\n' && r != '\t' && runes.Contains(spaces, r) })
}

func TestPatternsOfMaskBench(t *testing.T) {
	if testing.Short() {
		t.Skip("unpacks thousands of schemas")
	}
	texts := map[string][]string{} // pattern: strings of the instances it came with
	var all []string
	shared.Members(t, "maskbench/maskbench-dev.tar.xz", func(path string, data []byte) {
		if !strings.HasSuffix(path, ".json") {
			return
		}
		var file struct {
			Schema any
			Tests  []struct{ Data any }
		}
		if err := json.Unmarshal(data, &file); err != nil {
			t.Fatal(path, err)
		}
		var own []string
		for _, c := range file.Tests {
			walkJSON(c.Data, func(key string, v any) {
				own = append(own, key)
				if text, ok := v.(string); ok {
					own = append(own, text)
				}
			})
		}
		all = append(all, own...)
		walkJSON(file.Schema, func(key string, v any) {
			if text, ok := v.(string); ok && key == "pattern" {
				texts[text] = append(texts[text], own...)
			}
			if list, ok := v.(map[string]any); ok && key == "patternProperties" {
				for text := range list {
					texts[text] = append(texts[text], own...)
				}
			}
		})
	})
	r := rand.New(rand.NewPCG(11, 12))
	compared := 0
	for p, own := range texts {
		s := NewStore(Limits{})
		e, err := s.Pattern(p)
		if reason, refused := refusedPatterns[p]; refused != (err != nil) || err != nil && !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v", p, err)
		}
		if err != nil {
			continue
		}
		m := compile(t, s, e)
		if m.Start() == Dead {
			t.Errorf("%q matches nothing", p)
			continue
		}
		re, err := regexp.Compile(p)
		if err != nil {
			continue // look-ahead, mostly
		}
		r.Shuffle(len(own), func(i, j int) { own[i], own[j] = own[j], own[i] })
		own = own[:min(len(own), 60)]
		for range 20 {
			own = append(own, all[r.IntN(len(all))], mutate(r, sample(r, m)))
		}
		for _, text := range own {
			if !sameInGo(text) {
				continue
			}
			compared++
			if got, want := accepts(t, m, text), re.MatchString(text); got != want {
				t.Errorf("%q: %q: got %v, regexp says %v", p, text, got, want)
			}
		}
	}
	t.Log(len(texts), "patterns,", compared, "texts compared with regexp")
}

func walkJSON(v any, visit func(key string, v any)) {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			visit(key, x)
			walkJSON(x, visit)
		}
	case []any:
		for _, x := range v {
			visit("", x)
			walkJSON(x, visit)
		}
	}
}

// sample generates an accepted text.
func sample(r *rand.Rand, m *Machine) string {
	var b strings.Builder
	q := m.Start()
	for range r.IntN(20) {
		edges := m.Ranges(q)
		if len(edges) == 0 {
			break
		}
		d := edges[r.IntN(len(edges))]
		c := d.Lo + rune(r.IntN(min(int(d.Hi-d.Lo), 100)+1))
		b.WriteRune(c)
		q = m.Step(q, c)
	}
	return b.String() + m.Shortest(q)
}

// mutate returns a text unchanged, or with a character or two changed.
func mutate(r *rand.Rand, text string) string {
	runes := []rune(text)
	for range r.IntN(3) {
		i := r.IntN(len(runes) + 1)
		switch r.IntN(3) {
		case 0:
			runes = slices.Insert(runes, i, []rune("a0-_.é\n X")[r.IntN(9)])
		case 1:
			if i < len(runes) {
				runes = slices.Delete(runes, i, i+1)
			}
		case 2:
			if i < len(runes) {
				runes[i]++
			}
		}
	}
	return string(runes)
}
