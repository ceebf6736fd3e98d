package overhead

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/gbnf"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/vocab"
)

// TestCases checks that every schema compiles, and that its grammar for llama.cpp
// accepts the same of a few documents.
func TestCases(t *testing.T) {
	documents := map[string][]struct {
		text string
		fits bool
	}{
		"flat": {
			{`{"name":"x\"y","age":85,"kind":"new","available":true,"note":""}`, true},
			{`{"name":"x","age":085,"kind":"new","available":true,"note":""}`, false},
			{`{"name":"x","age":1000,"kind":"new","available":true,"note":""}`, false},
			{`{"name":"123456789012345678901","age":8,"kind":"new","available":true,"note":""}`, false},
		},
		"calls": {
			{`{"name":"search_documents","arguments":{"query":"q","maximum_results":0,"sort_order":"relevance","include_archived":false}}`, true},
			{`{"name":"search_documents","arguments":{"title":"q","duration_minutes":0,"repeat":"never","send_invitations":false}}`, false},
		},
	}
	for _, c := range Cases() {
		s, err := schema.Compile(c.Schema, schema.Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if issues := s.Report().Ignored; len(issues) > 0 {
			t.Errorf("%s: %v", c.Name, issues)
		}
		g, err := gbnf.Compile(c.GBNF, gbnf.Options{})
		if err != nil {
			t.Fatalf("%s: %v\n%.300s", c.Name, err, c.GBNF)
		}
		v := byteVocab(t)
		bound, err := g.Bind(v)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range documents[c.Name] {
			bySchema, byGrammar := s.Grammar(v).NewMatcher(), bound.NewMatcher()
			_, err := bySchema.AcceptBytes([]byte(d.text))
			if fits := err == nil && bySchema.Accepting(); fits != d.fits {
				t.Errorf("%s, schema: %s fits: %v", c.Name, d.text, fits)
			}
			_, err = byGrammar.AcceptBytes([]byte(d.text))
			if fits := err == nil && byGrammar.Accepting(); fits != d.fits {
				t.Errorf("%s, grammar: %s fits: %v", c.Name, d.text, fits)
			}
		}
	}
}

func TestReadCases(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.json": `{"type":"null"}`, "b.json": `true`, "b.gbnf": `root ::= "x"`, "c.txt": "no"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cases, err := ReadCases(dir)
	if err != nil || len(cases) != 2 || cases[0].Name != "a" || cases[0].GBNF != "" || cases[1].GBNF != `root ::= "x"` {
		t.Errorf("%v, %v", cases, err)
	}
	if _, err := ReadCases(t.TempDir()); err == nil {
		t.Error("an empty folder is fine")
	}
}

// made returns results like those of a run.
func made() []*Result {
	at := time.Unix(1, 0)
	return []*Result{
		{Case: "flat", Parallel: 1, Mode: ModeFree, Rounds: 2, Tokens: 80, TimePerToken: Estimate{9, 100, 90, 110},
			Overhead: Estimate{9, math.NaN(), math.NaN(), math.NaN()}, Parts: map[string]float64{"forward": 90}, samples: []float64{90, 110}},
		{Case: "flat", Parallel: 1, Mode: ModeMask, Rounds: 2, Tokens: 80, TimePerToken: Estimate{9, 101, 95, 111},
			Overhead: Estimate{9, 0.01, -0.02, 0.03}, Parts: map[string]float64{"forward": 90, "mask": 1.25}, samples: []float64{95, 111},
			spans: []engine.Span{
				{Part: engine.PartMask, Start: at.Add(2 * time.Microsecond), Took: time.Microsecond, Request: "document 1"},
				{Part: engine.PartForward, Start: at, Took: 5 * time.Microsecond, Tokens: 3},
				{Part: engine.PartSample, Start: at.Add(6 * time.Microsecond), Took: time.Microsecond, Request: "document 2", Choice: 1, Tokens: 1},
			}},
		{Case: "flat", Parallel: 4, Mode: ModeForced, Overhead: Estimate{2, -0.3, -0.4, -0.2}, Forced: 0.5},
	}
}

func TestReports(t *testing.T) {
	setting := Setting{Model: "M", CPU: "C", Command: "stencil bench", Commit: "abc"}
	var b bytes.Buffer
	if err := WriteTable(&b, setting, made()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"+1.0%", "-2.0% … +3.0%", "-30.0%", "too few rounds (2)", "50%", "1.25", "stencil bench", "commit abc"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := WriteBenchstat(&b, setting, made()); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\nBenchmarkOverhead/flat/seqs=1/temp=0/mode=mask-"); n != 2 || !strings.Contains(b.String(), "\t40\t95000 ns/token\n") {
		t.Errorf("%d rounds with masks in\n%s", n, b.String())
	}
	b.Reset()
	if err := WriteJSON(&b, setting, made()); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Setting Setting
		Results []Result
	}
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || len(back.Results) != 3 || back.Results[1].Overhead.High != 0.03 || back.Setting.Commit != "abc" {
		t.Errorf("%v, %+v", err, back)
	}
	b.Reset()
	if err := WritePlot(&b, ".png", made()); err != nil {
		t.Fatal(err)
	}
	if img, err := png.Decode(&b); err != nil || img.Bounds().Dx() < 300 {
		t.Errorf("plot: %v", err)
	}
	b.Reset()
	if err := WritePlot(&b, "svg", made()); err != nil || !strings.Contains(b.String(), "<svg") {
		t.Errorf("plot: %v, %.80s", err, b.String())
	}
	if err := WritePlot(&b, "svg", nil); err == nil {
		t.Error("nothing was plotted")
	}
}

func TestTrace(t *testing.T) {
	var b bytes.Buffer
	if err := WriteResultTrace(&b, made()[:2]); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Events []traceEvent `json:"traceEvents"`
	}
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatalf("%v in %s", err, b.Bytes())
	}
	type row struct {
		process, thread int
	}
	names := map[row]string{}
	spans := map[string]traceEvent{}
	for _, e := range back.Events {
		switch {
		case e.Phase == "M" && e.Name == "thread_name":
			names[row{e.Process, e.Thread}] = e.Args["name"].(string)
		case e.Phase == "X":
			spans[e.Name+" of "+names[row{e.Process, e.Thread}]] = e
		}
	}
	for name, want := range map[string][2]float64{
		"forward of batches": {0, 5}, "mask of document 1": {2, 1}, "sample of document 2, choice 1": {6, 1},
	} {
		if e, ok := spans[name]; !ok || e.Time != want[0] || e.Duration != want[1] || e.Process != 2 {
			t.Errorf("%s: %+v, want %v", name, e, want)
		}
	}
}

// byteVocab returns a vocabulary with a token for each byte and an end-of-text
// token.
func byteVocab(t testing.TB) *vocab.Vocab {
	tokens := []vocab.Token{{Text: "</s>", Kind: vocab.Control}}
	for b := range 256 {
		tokens = append(tokens, vocab.Token{Text: fmt.Sprintf("<0x%02X>", b), Kind: vocab.Byte})
	}
	eos, no := int32(0), false
	v, err := vocab.FromTokens(tokens, vocab.Options{EOS: &eos, AddSpacePrefix: &no})
	if err != nil {
		t.Fatal(err)
	}
	return v
}
