package repair

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/kaptinlin/jsonrepair"

	"github.com/stencil-json/stencil/constraint"
)

// A brokenCase is a broken text with its intended document.
type brokenCase struct {
	group, broken, intended, schema string
}

func brokenCases(t testing.TB) (list []brokenCase) {
	t.Helper()
	file, err := os.ReadFile("testdata/broken.txt")
	if err != nil {
		t.Fatal(err)
	}
	group := ""
	var lines []string
	for line := range strings.Lines(string(file)) {
		line = strings.TrimSuffix(line, "\n")
		rest := strings.TrimPrefix(line[min(1, len(line)):], " ")
		switch {
		case strings.HasPrefix(line, "#"):
			group = rest
		case strings.HasPrefix(line, "<"):
			lines = append(lines, rest)
		case strings.HasPrefix(line, ">"):
			list = append(list, brokenCase{group: group, broken: strings.Join(lines, "\n"), intended: rest})
			lines = nil
		case strings.HasPrefix(line, "?"):
			list[len(list)-1].schema = rest
		}
	}
	return list
}

// fitsOf returns a check against the case's schema, nil if it has none.
func fitsOf(t testing.TB, c brokenCase) Fits {
	if c.schema == "" {
		return nil
	}
	v, err := constraint.NewValidator(context.Background(), []byte(c.schema), "2020-12")
	if err != nil {
		t.Fatal(err)
	}
	return func(document []byte) bool { return v.Validate(context.Background(), document) == nil }
}

// equalJSON compares documents by value; numbers are equal if their values
// are.
func equalJSON(a, b []byte) bool {
	decode := func(src []byte) (v any) {
		d := json.NewDecoder(bytes.NewReader(src))
		d.UseNumber()
		if d.Decode(&v) != nil {
			return nil
		}
		return normal(v)
	}
	x := decode(a)
	return x != nil && reflect.DeepEqual(x, decode(b))
}

func normal(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f
		}
	case []any:
		for i := range v {
			v[i] = normal(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = normal(v[k])
		}
	}
	return v
}

var each = flag.Bool("each", false, "log what became of every document of the corpus")

type tally struct{ right, refused, wrong int }

func (s *tally) count(document, intended []byte, err error) string {
	switch {
	case err != nil || !parses(string(document)):
		s.refused++
		return "refused"
	case equalJSON(document, intended):
		s.right++
		return "right"
	}
	s.wrong++
	return "WRONG"
}

// TestCorpus repairs every broken document. No result may differ from the
// intended document, and more must succeed than with the library alone.
func TestCorpus(t *testing.T) {
	var ours, theirs, theirsFitting tally
	cases := brokenCases(t)
	if len(cases) < 300 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		if parses(c.broken) {
			t.Errorf("%s: not broken", c.broken)
		}
		fits := fitsOf(t, c)
		text, _ := Clean(c.broken, fits)
		document, edits, err := Repair(text, Hints{Fits: fits, Cut: strings.Contains(c.group, "by the budget")})
		verdict := ours.count(document, []byte(c.intended), err)
		library, libraryErr := jsonrepair.Repair(c.broken)
		other := theirs.count([]byte(library), []byte(c.intended), libraryErr)
		if libraryErr == nil && fits != nil && !fits([]byte(library)) {
			libraryErr = errNothing
		}
		theirsFitting.count([]byte(library), []byte(c.intended), libraryErr)
		if verdict == "WRONG" {
			t.Errorf("%s:\n%s\nread as  %s\nmeant as %s", c.group, c.broken, document, c.intended)
		}
		if *each {
			t.Logf("%s, library %s: %s → %s %v %v", verdict, other, c.broken, document, edits, err)
		}
	}
	t.Logf("%d cases: ours %+v, library alone %+v, library and validator %+v", len(cases), ours, theirs, theirsFitting)
	if ours.wrong != 0 || ours.right <= theirs.right {
		t.Errorf("ours %+v, library alone %+v", ours, theirs)
	}
}
