package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stencil-json/stencil/convert/goschema"
	"github.com/stencil-json/stencil/convert/typescript"
	"github.com/stencil-json/stencil/schema"
)

// ownCorpus is a small corpus that is always available.
var ownCorpus = &Corpus{Paths: []string{"testdata/own"}}

// TestOwnCorpus runs maskbench on ownCorpus, and compares the labels of its
// instances with the judge.
func TestOwnCorpus(t *testing.T) {
	v := vocabOf(t, nastyTokens...)
	var out bytes.Buffer
	mb := &Maskbench{Engine: NewEngine(v, lenient), Tokenizer: v, Out: &out, Timeout: time.Minute}
	sum, err := mb.Run(t.Context(), ownCorpus)
	if err != nil {
		t.Fatal(err)
	}
	if sum.Counts[Pass] != sum.Schemas || sum.Schemas < 15 {
		for line := range strings.Lines(out.String()) {
			if !strings.Contains(line, `"status":"pass"`) {
				t.Error(shorten(line, 500))
			}
		}
		t.Errorf("%v of %d schemas", sum.Counts, sum.Schemas)
	}
	cases, err := ownCorpus.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		root, err := parseValue(c.Schema)
		if err != nil {
			t.Fatal(err)
		}
		j, err := newJudge(c.Schema, draftOf(root))
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		for i, in := range c.Tests {
			if verdict := j.validate(in.Text); (verdict == nil) != in.Valid {
				t.Errorf("%s instance %d: the validator says %v", c.ID, i, verdict)
			}
		}
	}
}

// TestOwnCorpusServed runs maskbench with the options of generation: instances that
// are refused because of order or spacing are counted separately.
func TestOwnCorpusServed(t *testing.T) {
	v := vocabOf(t, nastyTokens...)
	mb := &Maskbench{
		Engine: NewEngine(v, schema.Options{}), Lenient: NewEngine(v, lenient), Tokenizer: v, Compact: true, Timeout: time.Minute,
	}
	sum, err := mb.Run(t.Context(), ownCorpus)
	if err != nil {
		t.Fatal(err)
	}
	if sum.Counts[Pass] != sum.Schemas || sum.Reordered == 0 {
		t.Errorf("%v of %d schemas, %d reordered", sum.Counts, sum.Schemas, sum.Reordered)
	}
}

func TestOwnCorpusWalk(t *testing.T) {
	v := vocabOf(t, nastyTokens...)
	for _, opt := range []schema.Options{{}, {Closed: true}, {Whitespace: schema.Pretty}, {Whitespace: schema.Natural}, {Order: schema.OrderAny, Whitespace: schema.Flexible(0)}} {
		var report bytes.Buffer
		walk := &Walk{
			Engine: NewEngine(v, opt), Vocab: v, N: 20, Seed: 1, Report: &report, Timeout: time.Minute,
			Verbose: true,
		}
		sum, err := walk.Run(t.Context(), ownCorpus)
		if err != nil {
			t.Fatal(err)
		}
		if !sum.Sound() || sum.Refused > 0 || sum.Documents != sum.Schemas*walk.N {
			t.Errorf("options %+v: %+v\n%s", opt, sum, shorten(report.String(), 3000))
		}
	}
}

// TestPydantic checks that the output of Pydantic's model_json_schema() is accepted
// unchanged, without warnings except for formats that no draft defines.
func TestPydantic(t *testing.T) {
	cases, err := (&Corpus{Paths: []string{"testdata/own/pydantic.json"}}).All()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		s, err := schema.Compile(c.Schema, schema.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		for _, w := range s.Report().Warnings {
			if w.Keyword != "format" {
				t.Errorf("%s: %s", c.ID, w)
			}
		}
	}
}

// TestTypeScriptSchemas compiles the schemas that the converter derives from its
// test data.
func TestTypeScriptSchemas(t *testing.T) {
	files, err := filepath.Glob("../convert/typescript/testdata/*.ts")
	if err != nil || len(files) == 0 {
		t.Fatal("no declarations", err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := typescript.Convert(src, "")
		if err != nil {
			t.Fatal(err)
		}
		walkSchema(t, name, text)
	}
}

// walkSchema samples documents of a schema, which must compile without warnings.
func walkSchema(t *testing.T, name string, text []byte) [][]byte {
	t.Helper()
	s, err := schema.Compile(text, schema.Options{Strict: true})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if w := s.Report().Warnings; len(w) > 0 {
		t.Errorf("%s: %v", name, w)
	}
	root, err := parseValue(text)
	if err != nil {
		t.Fatal(err)
	}
	tr := newTrial(vocabOf(t, nastyTokens...))
	texts, found := tr.documents(tr.served, root, 50, 1)
	if found != nil {
		t.Fatalf("%s: %s", name, found)
	}
	var out [][]byte
	for _, s := range texts {
		v, err := parseValue([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		// time.Time rejects escapes that JSON allows.
		out = append(out, appendJSON(nil, v, compactJSON))
	}
	return out
}

// order is a Go type for TestGoSchemas.
type order struct {
	ID       uint32            `json:"id" jsonschema:"minimum=1"`
	Lines    []orderLine       `json:"lines" jsonschema:"minItems=1"`
	Note     *string           `json:"note"`
	Labels   map[string]int8   `json:"labels,omitempty"`
	Placed   time.Time         `json:"placed"`
	Blob     []byte            `json:"blob"`
	ByNumber map[int16]float32 `json:"by_number,omitempty"`
	Parent   *order            `json:"parent,omitempty"`
	Quoted   int64             `json:"quoted,string"`
	Any      any               `json:"any"`
}

type orderLine struct {
	Product string `json:"product" jsonschema:"enum=nut,enum=bolt"`
	Count   int8   `json:"count" jsonschema:"minimum=1"`
}

// TestGoSchemas checks that documents of a Go type's schema can be decoded into that
// type without errors or unknown fields.
func TestGoSchemas(t *testing.T) {
	text, err := goschema.For[order]()
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range walkSchema(t, "order", text) {
		dec := json.NewDecoder(bytes.NewReader(document))
		dec.DisallowUnknownFields()
		var o order
		if err := dec.Decode(&o); err != nil {
			t.Errorf("%v in %s", err, document)
		}
	}
}
