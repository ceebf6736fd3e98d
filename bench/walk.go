package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/stencil-json/stencil/decoder/walk"
	"github.com/stencil-json/stencil/vocab"
)

// Walk samples documents at random from masks and validates each of them.
type Walk struct {
	Engine  Engine
	Vocab   *vocab.Vocab
	N       int    // documents per schema
	Seed    uint64 // the documents depend only on the seed, not on Jobs
	Jobs    int
	Timeout time.Duration // per schema; 0 is no limit
	// MemoryLimit is the resident size in bytes above which the schemas in progress
	// are abandoned; 0 is no limit.
	MemoryLimit int64
	// AnySpelling accepts numbers that are longer than those that generation writes.
	AnySpelling bool
	Report      io.Writer // receives findings as they occur; may be nil
	Verbose     bool      // also report refused and unjudged schemas
	Progress    func(finished int)
}

// WalkSummary counts the results of walks.
type WalkSummary struct {
	Schemas    int `json:"schemas"`
	Refused    int `json:"refused"`  // did not compile
	Unjudged   int `json:"unjudged"` // the validator refuses the schema or can't decide
	Documents  int `json:"documents"`
	Violations int `json:"violations"`
	// BadEndings counts shortest completions that the masks do not follow.
	BadEndings int `json:"bad_endings"`
	DeadEnds   int `json:"dead_ends"`  // no token was allowed although the document was incomplete
	Unfinished int `json:"unfinished"` // documents abandoned at the length limit
	Limits     int `json:"limits"`     // walks that met a limit of the engine
	Timeouts   int `json:"timeouts"`
	Crashes    int `json:"crashes"`
	Tokens     int `json:"tokens"`
	Bytes      int `json:"bytes"`
}

// finding is a result of a walk that is reported.
type finding struct {
	kind     string // a walk.Kind, "refused", "unjudged", or a Status
	reason   string
	document []byte
}

type walkResult struct {
	id       string
	sum      WalkSummary
	findings []finding
}

// Run walks over every case of the corpus.
func (wk *Walk) Run(ctx context.Context, corpus *Corpus) (WalkSummary, error) {
	tokens := walk.NewTokens(wk.Vocab)
	p := pool[*walkResult]{
		jobs:    wk.Jobs,
		timeout: wk.Timeout,
		memory:  wk.MemoryLimit,
		newWork: func() func(*Case, *atomic.Bool) *walkResult {
			return func(c *Case, abandoned *atomic.Bool) *walkResult {
				w := &walker{
					Walker:  walk.Walker{Tokens: tokens, Stop: abandoned},
					options: wk, result: &walkResult{id: c.ID},
				}
				w.run(c)
				return w.result
			}
		},
		failed: func(c *Case, status Status, message string) *walkResult {
			r := &walkResult{id: c.ID, sum: WalkSummary{Schemas: 1}}
			if status == TimedOut {
				r.sum.Timeouts++
			} else {
				r.sum.Crashes++
			}
			r.findings = append(r.findings, finding{string(status), message, nil})
			return r
		},
	}
	var total WalkSummary
	err := p.run(ctx, corpus, func(r *walkResult) error {
		total.add(&r.sum)
		if wk.Progress != nil {
			wk.Progress(total.Schemas)
		}
		return wk.report(r)
	})
	return total, err
}

func (s *WalkSummary) add(o *WalkSummary) {
	s.Schemas += o.Schemas
	s.Refused += o.Refused
	s.Unjudged += o.Unjudged
	s.Documents += o.Documents
	s.Violations += o.Violations
	s.BadEndings += o.BadEndings
	s.DeadEnds += o.DeadEnds
	s.Unfinished += o.Unfinished
	s.Limits += o.Limits
	s.Timeouts += o.Timeouts
	s.Crashes += o.Crashes
	s.Tokens += o.Tokens
	s.Bytes += o.Bytes
}

func (wk *Walk) report(r *walkResult) error {
	if wk.Report == nil {
		return nil
	}
	for _, f := range r.findings {
		if !wk.Verbose && (f.kind == "refused" || f.kind == "unjudged") {
			continue
		}
		if _, err := fmt.Fprintf(wk.Report, "%s: %s: %s\n", r.id, f.kind, f.reason); err != nil {
			return fmt.Errorf("bench: report: %w", err)
		}
		if f.document == nil {
			continue
		}
		if _, err := fmt.Fprintf(wk.Report, "    %q\n", f.document); err != nil {
			return fmt.Errorf("bench: report: %w", err)
		}
	}
	return nil
}

// Write prints the counts.
func (s WalkSummary) Write(w io.Writer) error {
	for _, row := range []struct {
		name  string
		count int
	}{
		{"schemas", s.Schemas}, {"refused", s.Refused}, {"unjudged", s.Unjudged}, {"documents", s.Documents},
		{"tokens", s.Tokens}, {"bytes", s.Bytes}, {"violations", s.Violations}, {"dead ends", s.DeadEnds}, {"bad endings", s.BadEndings},
		{"unfinished", s.Unfinished}, {"limits", s.Limits}, {"timeouts", s.Timeouts}, {"crashes", s.Crashes},
	} {
		if _, err := fmt.Fprintf(w, "%-11s  %9d\n", row.name, row.count); err != nil {
			return err
		}
	}
	return nil
}

// Sound reports whether no faults were found.
func (s WalkSummary) Sound() bool {
	return s.Violations == 0 && s.DeadEnds == 0 && s.BadEndings == 0 && s.Limits == 0 && s.Timeouts == 0 && s.Crashes == 0
}

// walker samples the documents of one schema.
type walker struct {
	walk.Walker
	options *Walk
	result  *walkResult
}

func (w *walker) note(count *int, kind, reason string, document []byte) {
	*count++
	w.result.findings = append(w.result.findings, finding{kind, reason, document})
}

func (w *walker) run(c *Case) {
	sum := &w.result.sum
	sum.Schemas++
	constraint, err := w.options.Engine.Compile(c.Schema)
	if err != nil {
		w.note(&sum.Refused, "refused", err.Error(), nil)
		return
	}
	judge, err := newJudge(c.Schema, constraint.Draft())
	if err != nil {
		w.note(&sum.Unjudged, "unjudged", err.Error(), nil)
	}
	for i := range w.options.N {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s\x00%d", c.ID, i)
		w.Rand = rand.New(rand.NewPCG(w.options.Seed, h.Sum64()))
		document, err := w.Document(constraint.NewMatcher())
		sum.Bytes += len(document)
		var fault *walk.Fault
		if errors.As(err, &fault) {
			w.fault(fault, document)
			if err == walk.ErrStopped {
				return
			}
			continue
		}
		sum.Documents++
		switch err := w.check(document, c.Schema, judge); {
		case err == errUndecided:
			w.note(&sum.Unjudged, "unjudged", err.Error(), document)
		case err != nil:
			w.note(&sum.Violations, "violation", err.Error(), document)
		}
	}
	sum.Tokens = w.Count()
}

// shownBytes is the maximum number of bytes that are reported of an unfinished
// document.
const shownBytes = 400

// fault records a walk that did not complete its document.
func (w *walker) fault(f *walk.Fault, document []byte) {
	sum := &w.result.sum
	count := &sum.Unfinished
	switch f.Kind {
	case walk.Broken:
		count = &sum.Violations
	case walk.DeadEnd:
		count = &sum.DeadEnds
	case walk.BadEnding:
		count = &sum.BadEndings
	case walk.Limit:
		count = &sum.Limits
	case walk.Unfinished:
		document = document[:min(len(document), shownBytes)]
	}
	w.note(count, string(f.Kind), f.Reason, document)
}

// check returns what is wrong with a finished document, or nil.
func (w *walker) check(document, schema []byte, j *judge) error {
	if !utf8.Valid(document) {
		return fmt.Errorf("not UTF-8")
	}
	v, err := parseValue(document)
	if err != nil {
		return err
	}
	var source []byte
	if !w.options.AnySpelling {
		source = schema
	}
	if err := checkSpelling(v, source); err != nil {
		return err
	}
	if j == nil {
		return nil
	}
	return j.validate(document)
}

// Limits on the significant digits and the exponent of generated numbers, so that
// every JSON parser can read them.
const (
	maxDigits   = 17
	maxExponent = 308
)

// checkSpelling checks what schemas can't express: no repeated names, no lone
// surrogates, and, unless schema is nil, no numbers beyond the limits of other
// parsers, except those that the schema itself contains.
func checkSpelling(v *value, schema []byte) error {
	switch v.kind {
	case kindString:
		if !utf8.ValidString(v.text) {
			return fmt.Errorf("lone surrogate in %q", v.text)
		}
	case kindNumber:
		digits, exponent := numberSize(v.text)
		large := digits > maxDigits || exponent > maxExponent || exponent < -maxExponent
		if large && schema != nil && !bytes.Contains(schema, []byte(v.text)) {
			return fmt.Errorf("number %s has %d significant digits and exponent %d", v.text, digits, exponent)
		}
	case kindObject:
		if v.repeats > 0 {
			return fmt.Errorf("object with repeated names")
		}
		for _, k := range v.keys {
			if !utf8.ValidString(k) {
				return fmt.Errorf("lone surrogate in name %q", k)
			}
		}
	}
	for _, item := range v.items {
		if err := checkSpelling(item, schema); err != nil {
			return err
		}
	}
	return nil
}

// numberSize returns the number of significant digits of a number, without leading
// and trailing zeros, and its written exponent.
func numberSize(text string) (digits, exponent int) {
	sign := 1
	inExponent := false
	zeros := 0 // zeros since the last other digit
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == 'e' || c == 'E':
			inExponent = true
		case c == '-' && inExponent:
			sign = -1
		case c < '0' || c > '9':
		case inExponent:
			exponent = min(exponent*10+int(c-'0'), 1_000_000)
		case c == '0':
			if digits > 0 {
				zeros++
			}
		default:
			digits += zeros + 1
			zeros = 0
		}
	}
	return digits, sign * exponent
}
