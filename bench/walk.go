package bench

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"stencil/vocab"
)

// Walk samples documents at random from masks and has each judged.
type Walk struct {
	Engine  Engine
	Vocab   *vocab.Vocab
	N       int    // documents of each schema
	Seed    uint64 // same seed, same documents, whatever Jobs is
	Jobs    int
	Timeout time.Duration // for one schema; 0 is no limit
	// MemoryLimit is the resident size in bytes above which the schemas being
	// worked on are given up; 0 is no limit.
	MemoryLimit int64
	// AnySpelling accepts numbers that are longer than generation writes them.
	AnySpelling bool
	Report      io.Writer // findings, as they come; may be nil
	Verbose     bool      // report refused and unjudged schemas too
	Progress    func(finished int)
}

// WalkSummary counts what the walks met.
type WalkSummary struct {
	Schemas    int
	Refused    int // did not compile
	Unjudged   int // the validator refuses the schema or cannot decide
	Documents  int
	Violations int
	// BadEndings counts shortest completions that the masks do not follow.
	BadEndings int
	DeadEnds   int // no token was allowed and the document not complete
	Unfinished int // documents given up at the length limit
	Timeouts   int
	Crashes    int
	Tokens     int
	Bytes      int
}

// finding is something a walk met that is worth a line.
type finding struct {
	kind     string // "violation", "dead end", "bad ending", "unfinished", "refused", "unjudged", "timeout", "crash"
	reason   string
	document []byte
}

type walkResult struct {
	id       string
	sum      WalkSummary
	findings []finding
}

// Run walks over every case of the corpus.
func (wk *Walk) Run(corpus *Corpus) (WalkSummary, error) {
	tokens := newTokenTable(wk.Vocab)
	p := pool[*walkResult]{
		jobs:    wk.Jobs,
		timeout: wk.Timeout,
		memory:  wk.MemoryLimit,
		newWork: func() func(*Case, *atomic.Bool) *walkResult {
			return func(c *Case, abandoned *atomic.Bool) *walkResult {
				w := &walker{walk: wk, tokens: tokens, abandoned: abandoned, result: &walkResult{id: c.ID}}
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
	err := p.run(corpus, func(r *walkResult) error {
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
		{"unfinished", s.Unfinished}, {"timeouts", s.Timeouts}, {"crashes", s.Crashes},
	} {
		if _, err := fmt.Fprintf(w, "%-11s  %9d\n", row.name, row.count); err != nil {
			return err
		}
	}
	return nil
}

// Sound reports whether nothing was found that should not be.
func (s WalkSummary) Sound() bool {
	return s.Violations == 0 && s.DeadEnds == 0 && s.BadEndings == 0 && s.Timeouts == 0 && s.Crashes == 0
}

// tokenTable finds tokens by their text.
type tokenTable struct {
	vocab   *vocab.Vocab
	byText  map[string]int32
	byFirst [256][]int32
	firsts  []byte // the bytes with which some token begins
	longest int
}

func newTokenTable(v *vocab.Vocab) *tokenTable {
	t := &tokenTable{vocab: v, byText: make(map[string]int32, v.Len())}
	for id := range int32(v.Len()) {
		text := v.Bytes(id)
		if len(text) == 0 {
			continue
		}
		if _, known := t.byText[string(text)]; !known {
			t.byText[string(text)] = id
		}
		t.byFirst[text[0]] = append(t.byFirst[text[0]], id)
		t.longest = max(t.longest, len(text))
	}
	for b := range t.byFirst {
		if len(t.byFirst[b]) > 0 {
			t.firsts = append(t.firsts, byte(b))
		}
	}
	return t
}

// maxWalkTokens ends walks whose shortest completion never comes nearer; real
// minLength values need some thousands.
const maxWalkTokens = 20_000

// walker makes the documents of one schema.
type walker struct {
	walk      *Walk
	tokens    *tokenTable
	abandoned *atomic.Bool
	result    *walkResult
	rng       *rand.Rand
	allowed   []int32
}

func (w *walker) note(count *int, kind, reason string, document []byte) {
	*count++
	w.result.findings = append(w.result.findings, finding{kind, reason, document})
}

func (w *walker) run(c *Case) {
	sum := &w.result.sum
	sum.Schemas++
	constraint, err := w.walk.Engine.Compile(c.Schema)
	if err != nil {
		w.note(&sum.Refused, "refused", err.Error(), nil)
		return
	}
	judge, err := newJudge(c.Schema, constraint.Draft())
	if err != nil {
		w.note(&sum.Unjudged, "unjudged", err.Error(), nil)
	}
	for i := range w.walk.N {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s\x00%d", c.ID, i)
		w.rng = rand.New(rand.NewPCG(w.walk.Seed, h.Sum64()))
		document, finished := w.document(constraint.NewMatcher())
		if w.abandoned.Load() {
			return
		}
		sum.Bytes += len(document)
		if !finished {
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
}

// document samples one document. It reports false when the walk met a finding
// of its own.
func (w *walker) document(m Matcher) ([]byte, bool) {
	sum := &w.result.sum
	var text []byte
	var closing []byte // what remains of the shortest completion, once it is followed
	budget := 4 + int(w.rng.ExpFloat64()*40)
	uniform := w.rng.Float64() // how much this document likes long odd tokens
	for n := 0; ; n++ {
		if w.abandoned.Load() {
			return text, false
		}
		mask, err := m.Mask()
		if err != nil {
			w.note(&sum.Violations, "violation", "mask: "+err.Error(), text)
			return text, false
		}
		accepting := m.Accepting()
		for _, eog := range w.tokens.vocab.EOG() {
			if mask.Has(eog) != accepting {
				w.note(&sum.Violations, "violation", fmt.Sprintf("end of generation in mask: %t, accepting: %t", mask.Has(eog), accepting), text)
				return text, false
			}
		}
		texts := mask.Len()
		if accepting {
			texts -= len(w.tokens.vocab.EOG())
		}
		if accepting && (texts == 0 || n >= budget || w.rng.IntN(4) == 0) {
			return text, true
		}
		if texts == 0 {
			w.note(&sum.DeadEnds, "dead end", "no token is allowed", text)
			return text, false
		}
		if n >= maxWalkTokens {
			w.note(&sum.Unfinished, "unfinished", fmt.Sprintf("no end after %d tokens", n), text[:min(len(text), 400)])
			return text, false
		}
		var token int32
		if n < budget {
			token = w.pick(mask, texts, uniform)
		} else {
			if len(closing) == 0 {
				closing = m.ShortestCompletion()
			}
			var ok bool
			if token, ok = w.follow(mask, closing); !ok {
				w.note(&sum.BadEndings, "bad ending", fmt.Sprintf("the mask has no token towards the shortest completion %q", closing), text)
				return text, false
			}
			closing = closing[len(w.tokens.vocab.Bytes(token)):]
		}
		if err := m.Accept(token); err != nil {
			w.note(&sum.Violations, "violation", fmt.Sprintf("token %d of the mask is refused: %v", token, err), text)
			return text, false
		}
		sum.Tokens++
		text = append(text, w.tokens.vocab.Bytes(token)...)
	}
}

// follow picks an allowed token that begins the given text, now and then not
// the longest one.
func (w *walker) follow(mask Mask, text []byte) (int32, bool) {
	found := int32(-1)
	for n := min(len(text), w.tokens.longest); n > 0; n-- {
		if id, ok := w.tokens.byText[string(text[:n])]; ok && mask.Has(id) {
			found = id
			if w.rng.IntN(8) > 0 {
				break
			}
		}
	}
	return found, found >= 0
}

// fewTokens is where listing a mask's tokens is cheaper than guessing them.
const fewTokens = 2048

// pick draws an allowed token: often by its first byte, so that quotes and
// brackets are met as often as letters are, and otherwise from all alike.
func (w *walker) pick(mask Mask, texts int, uniform float64) int32 {
	v := w.tokens.vocab
	alike := w.rng.Float64() < uniform
	if texts > fewTokens {
		for range 200 {
			id := int32(w.rng.IntN(v.Len()))
			if !alike {
				bucket := w.tokens.byFirst[w.tokens.firsts[w.rng.IntN(len(w.tokens.firsts))]]
				id = bucket[w.rng.IntN(len(bucket))]
			}
			if len(v.Bytes(id)) > 0 && mask.Has(id) {
				return id
			}
		}
	}
	w.allowed = mask.AppendTokens(w.allowed[:0])
	w.allowed = slices.DeleteFunc(w.allowed, func(id int32) bool { return len(v.Bytes(id)) == 0 })
	if alike {
		return w.allowed[w.rng.IntN(len(w.allowed))]
	}
	slices.SortFunc(w.allowed, func(a, b int32) int {
		return cmp.Or(cmp.Compare(v.Bytes(a)[0], v.Bytes(b)[0]), cmp.Compare(a, b))
	})
	var starts []int // where a new first byte begins
	for i, id := range w.allowed {
		if i == 0 || v.Bytes(id)[0] != v.Bytes(w.allowed[i-1])[0] {
			starts = append(starts, i)
		}
	}
	k := w.rng.IntN(len(starts))
	from, to := starts[k], len(w.allowed)
	if k+1 < len(starts) {
		to = starts[k+1]
	}
	return w.allowed[from+w.rng.IntN(to-from)]
}

// check says what is wrong with a finished document.
func (w *walker) check(document, schema []byte, j *judge) error {
	if !utf8.Valid(document) {
		return fmt.Errorf("not UTF-8")
	}
	v, err := parseValue(document)
	if err != nil {
		return err
	}
	var source []byte
	if !w.walk.AnySpelling {
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

// Generated numbers have at most so many significant digits, and an exponent
// of at most so much, so that every JSON parser reads them.
const (
	maxDigits   = 17
	maxExponent = 308
)

// checkSpelling looks for what no schema talks about: repeated names, lone
// surrogates, and, unless schema is nil, numbers that other parsers would not
// read and that the schema does not itself spell so.
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

// numberSize returns the number of significant digits of a spelling, zeros at
// both ends left out, and its written exponent.
func numberSize(text string) (digits, exponent int) {
	sign := 1
	inExponent := false
	zeros := 0 // seen since the last other digit
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
