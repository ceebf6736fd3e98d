package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"regexp"
	"slices"

	"github.com/stencil-json/stencil/bench"
	"github.com/stencil-json/stencil/decoder/walk"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/vocab"
)

// A document is a generated text with the verdicts of the validators: nil if a
// validator can't decide, "" if the text is valid, else its error.
type document struct {
	ID         string  `json:"id"`
	By         string  `json:"by"`
	Text       string  `json:"text"`
	Ajv        *string `json:"ajv"`
	Jsonschema *string `json:"jsonschema"`
}

// An explanation states which side is wrong in some disagreements, and why.
type explanation struct {
	// Schemas is a pattern of path.Match for the names of schemas; empty for all.
	Schemas string `json:"schemas"`
	// Judge is ajv or jsonschema.
	Judge string `json:"judge"`
	// Engine is what the engine does: accepts or refuses.
	Engine string `json:"engine"`
	// Says is a regular expression for the verdict of the judge, Text one for the
	// document, and Reason one for the error of the engine.
	Says, Text, Reason string
	Why                string `json:"why"`

	says, text, reason *regexp.Regexp
	used               int
}

// comparison compares the engine with the judges.
type comparison struct {
	vocab     *vocab.Vocab
	explained []*explanation

	documents, valid, invalid, undecided, refused int
	faults                                        []string
}

func newComparison(v *vocab.Vocab, explained []byte) (*comparison, error) {
	c := &comparison{vocab: v}
	if err := json.Unmarshal(explained, &c.explained); err != nil {
		return nil, err
	}
	for i, e := range c.explained {
		var errs [3]error
		e.says, errs[0] = regexp.Compile(e.Says)
		e.text, errs[1] = regexp.Compile(e.Text)
		e.reason, errs[2] = regexp.Compile(e.Reason)
		if err := errors.Join(errs[:]...); err != nil {
			return nil, fmt.Errorf("explanation %d: %w", i, err)
		}
		if e.Why == "" || e.Judge != "ajv" && e.Judge != "jsonschema" || e.Engine != "accepts" && e.Engine != "refuses" {
			return nil, fmt.Errorf("explanation %d: judge, engine and why must be set", i)
		}
	}
	return c, nil
}

// run compares the verdicts on the documents read from in, with the schemas of the corpus.
func (c *comparison) run(corpus *bench.Corpus, in io.Reader) error {
	documents := map[string][]document{}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var d document
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			return fmt.Errorf("a document: %w", err)
		}
		documents[d.ID] = append(documents[d.ID], d)
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return corpus.Each(func(s bench.Case) error {
		list := documents[s.ID]
		if len(list) == 0 {
			return nil
		}
		compiled, err := bench.NewEngine(c.vocab, lenient).Compile(s.Schema)
		if err != nil {
			return fmt.Errorf("%s: %w", s.ID, err)
		}
		for i := range list {
			c.document(compiled, &list[i])
		}
		return nil
	})
}

// document feeds one document to the engine, byte by byte and in tokens, and compares
// the results with the verdicts.
func (c *comparison) document(compiled bench.Constraint, d *document) {
	c.documents++
	text := []byte(d.Text)
	refusal := feedBytes(compiled.NewMatcher(), text)
	var limit *schema.LimitError
	if errors.As(refusal, &limit) {
		c.refused++
		return
	}
	r := rand.New(rand.NewPCG(uint64(len(text)), uint64(c.documents)))
	for i, tokens := range [][]int32{c.vocab.TokenizeText(nil, text), bench.Split(r, c.vocab, text), bench.Split(r, c.vocab, text)} {
		err := c.feedTokens(compiled.NewMatcher(), tokens)
		if (err == nil) != (refusal == nil) {
			c.fault(d, fmt.Sprintf("byte by byte: %v; in tokens (way %d): %v", refusal, i, err))
		}
	}
	for _, judge := range []struct {
		name string
		says *string
	}{{"ajv", d.Ajv}, {"jsonschema", d.Jsonschema}} {
		switch {
		case judge.says == nil:
			c.undecided++
		case *judge.says == "":
			c.valid++
		default:
			c.invalid++
		}
		if judge.says == nil || (*judge.says == "") == (refusal == nil) || c.explain(d, judge.name, *judge.says, refusal) {
			continue
		}
		if refusal != nil {
			c.fault(d, fmt.Sprintf("%s: valid; refused: %v", judge.name, refusal))
		} else {
			c.fault(d, fmt.Sprintf("%s: %s; accepted", judge.name, *judge.says))
		}
	}
}

func (c *comparison) fault(d *document, what string) {
	c.faults = append(c.faults, fmt.Sprintf("%s: %s: %s: %s", d.ID, d.By, what, d.Text))
}

// explain reports whether a disagreement is explained.
func (c *comparison) explain(d *document, judge, says string, refusal error) bool {
	engine, reason := "accepts", ""
	if refusal != nil {
		engine, reason = "refuses", refusal.Error()
	}
	i := slices.IndexFunc(c.explained, func(e *explanation) bool {
		named := e.Schemas == ""
		if !named {
			named, _ = path.Match(e.Schemas, d.ID)
		}
		return named && e.Judge == judge && e.Engine == engine &&
			e.says.MatchString(says) && e.text.MatchString(d.Text) && e.reason.MatchString(reason)
	})
	if i >= 0 {
		c.explained[i].used++
	}
	return i >= 0
}

// feedBytes returns why a text is refused byte by byte, or nil.
func feedBytes(m walk.Matcher, text []byte) error {
	if n, err := m.AcceptBytes(text); err != nil {
		return fmt.Errorf("byte %d: %w", n, err)
	}
	if !m.Accepting() {
		return errors.New("incomplete")
	}
	return nil
}

// feedTokens returns why a text is refused token by token, or nil.
func (c *comparison) feedTokens(m walk.Matcher, tokens []int32) error {
	for i, tok := range tokens {
		mask, err := m.Mask()
		if err != nil {
			return err
		}
		if !mask.Has(tok) {
			return fmt.Errorf("token %d %q is not in its mask", i, c.vocab.Bytes(tok))
		}
		if err := m.Accept(tok); err != nil {
			return err
		}
	}
	if !m.Accepting() {
		return errors.New("incomplete")
	}
	return nil
}

// report prints the result of the comparison.
func (c *comparison) report(w io.Writer) {
	for _, f := range c.faults {
		fmt.Fprintln(w, f)
	}
	fmt.Fprintf(w, "%d documents, %d beyond a limit; verdicts: %d valid, %d invalid, %d undecided; %d disagreements without an explanation\n",
		c.documents, c.refused, c.valid, c.invalid, c.undecided, len(c.faults))
	for _, e := range c.explained {
		fmt.Fprintf(w, "%6d %s, engine %s: %s\n", e.used, e.Judge, e.Engine, e.Why)
	}
}
