package bench

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stencil-json/stencil/decoder/walk"
)

// writeSchema writes a schema to a temporary file.
func writeSchema(t *testing.T, schema string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(name, []byte(schema), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// fixedEngine accepts the given documents regardless of the schema.
func fixedEngine(t *testing.T, documents ...string) *Walk {
	e := &listEngine{vocab: vocabOf(t, nastyTokens...)}
	return &Walk{
		Engine: engineFunc(func([]byte) (Constraint, error) {
			return &listConstraint{engine: e, documents: documents}, nil
		}),
		Vocab: e.vocab, N: 40, Seed: 1, Timeout: time.Minute,
	}
}

func TestWalkFindsViolations(t *testing.T) {
	for _, c := range []struct {
		name, schema string
		documents    []string
		reason       string // of the violation; "" if the walk is sound
	}{
		{"sound", `{"type": "integer"}`, []string{`12`, `-7`, `3.0`}, ""},
		{"wrong type", `{"type": "integer"}`, []string{`12`, `2.5`}, "got number, want integer"},
		{"draft", `{"$schema": "https://nowhere.example/meta", "maximum": 5}`, []string{`12`}, "maximum"},
		{"no json", `{}`, []string{`[1,]`}, "expected a value"},
		{"repeated name", `{}`, []string{`{"a":1,"a":1}`}, "repeated names"},
		{"lone surrogate", `{}`, []string{`"\ud83d"`}, "lone surrogate"},
		{"long number", `{}`, []string{`123456789012345678`}, "18 significant digits"},
		{"large number", `{}`, []string{`1e309`}, "exponent 309"},
		{"trailing zeros", `{}`, []string{`120000000000000000000`}, ""},
		{"format", `{"format": "date"}`, []string{`"2023-02-30"`}, "date"},
		{"pattern", `{"pattern": "^\\p{Lu}\\d$"}`, []string{`"É٣"`}, "pattern"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var report bytes.Buffer
			walk := fixedEngine(t, c.documents...)
			walk.Report = &report
			sum, err := walk.Run(t.Context(), &Corpus{Paths: []string{writeSchema(t, c.schema)}})
			if err != nil {
				t.Fatal(err)
			}
			if sum.Documents != walk.N || sum.Unjudged != 0 {
				t.Errorf("%d documents, %d unjudged: %s", sum.Documents, sum.Unjudged, report.String())
			}
			if sum.Sound() != (c.reason == "") || !strings.Contains(report.String(), c.reason) {
				t.Errorf("want a violation %q, got %+v\n%s", c.reason, sum, shorten(report.String(), 500))
			}
		})
	}
}

// openMatcher never reports that a document is complete.
type openMatcher struct{ *listMatcher }

func (m openMatcher) Accepting() bool { return false }
func (m openMatcher) Mask() (walk.Mask, error) {
	set := tokenSet{}
	mask, err := m.listMatcher.Mask()
	for _, id := range mask.AppendTokens(nil) {
		if !m.constraint.engine.vocab.IsEOG(id) {
			set[id] = true
		}
	}
	return set, err
}

type openConstraint struct{ *listConstraint }

func (c openConstraint) NewMatcher() walk.Matcher {
	return openMatcher{&listMatcher{constraint: c.listConstraint}}
}

func TestWalkFindsDeadEnds(t *testing.T) {
	walk := fixedEngine(t)
	e := &listEngine{vocab: walk.Vocab}
	walk.Engine = engineFunc(func([]byte) (Constraint, error) {
		return openConstraint{&listConstraint{engine: e, documents: []string{`[1]`}}}, nil
	})
	sum, err := walk.Run(t.Context(), &Corpus{Paths: []string{writeSchema(t, `{}`)}})
	if err != nil {
		t.Fatal(err)
	}
	if sum.DeadEnds != walk.N || sum.Documents != 0 || sum.Sound() {
		t.Errorf("%+v", sum)
	}
}

// TestWalkSeed checks that the documents depend only on the seed.
func TestWalkSeed(t *testing.T) {
	texts := func(seed uint64, jobs int) string {
		walk := fixedEngine(t, `1.25`, `"abc"`, `{"a": [1, 2, 3]}`)
		var report bytes.Buffer
		walk.Seed, walk.Jobs, walk.Report = seed, jobs, &report
		if _, err := walk.Run(t.Context(), &Corpus{Paths: []string{writeSchema(t, `false`)}}); err != nil {
			t.Fatal(err)
		}
		return report.String()
	}
	first := texts(1, 1)
	if !strings.Contains(first, "abc") {
		t.Fatalf("no document in %s", first)
	}
	// The id of a schema is its file name without the folder.
	if texts(1, 2) != first {
		t.Error("same seed, other documents")
	}
	if texts(2, 1) == first {
		t.Error("other seed, same documents")
	}
}

func TestNumberSize(t *testing.T) {
	for text, want := range map[string][2]int{
		"0": {0, 0}, "-0.0": {0, 0}, "100": {1, 0}, "0.0012": {2, 0}, "1.10e-05": {2, -5}, "10203E+7": {5, 7}, "1e99999999999": {1, 1_000_000},
	} {
		if d, e := numberSize(text); d != want[0] || e != want[1] {
			t.Errorf("%s: %d digits, exponent %d", text, d, e)
		}
	}
}
