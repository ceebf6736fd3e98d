package bench

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/walk"
	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/schema/number"
	"github.com/stencil-json/stencil/vocab"
)

// naiveMask is a naive implementation of the mask computation: it feeds every token
// of the vocabulary, byte by byte, to a copy of the matcher.
func naiveMask(m *decoder.Matcher, v *vocab.Vocab) vocab.Bitset {
	set := vocab.NewBitset(v.Len())
	for id := range int32(v.Len()) {
		text := v.Bytes(id)
		switch {
		case v.IsEOG(id):
			if m.Accepting() {
				set.Set(id)
			}
		case len(text) > 0:
			if n, err := m.Clone().AcceptBytes(text); err == nil && n == len(text) {
				set.Set(id)
			}
		}
	}
	return set
}

// sliceOf returns a vocabulary with every n-th token of a real one, and all its
// tokens of up to four bytes that contain a syntax character of JSON.
func sliceOf(t testing.TB, v *vocab.Vocab, n int32) *vocab.Vocab {
	t.Helper()
	var texts []string
	for id := range int32(v.Len()) {
		text := v.Bytes(id)
		if len(text) > 0 && (id%n == 0 || len(text) <= 4 && bytes.ContainsAny(text, "\"\\{}[],:")) {
			texts = append(texts, string(text))
		}
	}
	return vocabOf(t, texts...)
}

// examineMask compares all results of a mask and a matcher at one position with the
// result of trying every token.
func examineMask(m *decoder.Matcher, v *vocab.Vocab) error {
	mask, err := m.Mask()
	if err != nil {
		return err
	}
	want := naiveMask(m, v)
	for id := range int32(v.Len()) {
		if mask.Has(id) != want.Has(id) {
			return fmt.Errorf("token %d %q: in mask %t, accepted %t", id, v.Bytes(id), mask.Has(id), want.Has(id))
		}
	}
	if mask.Len() != want.Count() {
		return fmt.Errorf("mask has %d tokens and says %d", want.Count(), mask.Len())
	}
	filled := vocab.NewBitset(v.Len())
	filled.Set(1) // Fill must overwrite the whole set
	mask.Fill(filled)
	if !filled.Equal(want) {
		return errors.New("mask filled into a bitset differs")
	}
	listed := mask.AppendTokens(nil)
	slices.Sort(listed)
	if !slices.Equal(listed, want.AppendTo(nil)) {
		return errors.New("mask as a list differs")
	}
	return examineMatcher(m, v, listed)
}

// examineMatcher checks completion, forced text, rollback and explanations.
func examineMatcher(m *decoder.Matcher, v *vocab.Vocab, allowed []int32) error {
	if len(allowed) == 0 {
		return errors.New("dead end: no token is allowed")
	}
	text := slices.Clone(m.Text())
	end := m.Clone()
	completion := end.ShortestCompletion()
	if _, err := end.AcceptBytes(completion); err != nil || !end.Accepting() {
		return fmt.Errorf("shortest completion %q is none: %v", completion, err)
	}
	if m.Accepting() != (len(completion) == 0) {
		return fmt.Errorf("accepting %t, but the shortest completion is %q", m.Accepting(), completion)
	}
	if err := examineForced(m, v, allowed); err != nil {
		return err
	}
	// Accept some tokens and roll them back.
	back := m.Clone()
	steps := 0
	for i := 0; i < 3 && !back.Done(); i++ {
		mask, err := back.Mask()
		if err != nil {
			return err
		}
		next := mask.AppendTokens(nil)
		if len(next) == 0 {
			return fmt.Errorf("dead end after %q", back.Text())
		}
		token := next[(i*7+len(text))%len(next)]
		if err := back.Accept(token); err != nil {
			return fmt.Errorf("token %d of the mask after %q: %v", token, back.Text(), err)
		}
		steps++
	}
	if err := back.Rollback(steps); err != nil {
		return fmt.Errorf("rollback: %v", err)
	}
	mask, err := back.Mask()
	if err != nil {
		return err
	}
	again := mask.AppendTokens(nil)
	slices.Sort(again)
	if !bytes.Equal(back.Text(), text) || !slices.Equal(again, allowed) {
		return fmt.Errorf("rollback of %d tokens leads to %q", steps, back.Text())
	}
	for id := int32(0); int(id) < v.Len(); id += 37 {
		if _, in := slices.BinarySearch(allowed, id); !in && m.Explain(id) == "" {
			return fmt.Errorf("no explanation why token %d is not allowed", id)
		}
	}
	if !bytes.Equal(m.Text(), text) {
		return fmt.Errorf("text changed to %q", m.Text())
	}
	return nil
}

// examineForced checks that forced bytes are the only possibility, and that all
// forced bytes are found.
func examineForced(m *decoder.Matcher, v *vocab.Vocab, allowed []int32) error {
	forced := m.ForcedBytes()
	if len(forced) > 0 && m.Accepting() {
		return fmt.Errorf("%q is forced though the document may end", forced)
	}
	for _, id := range allowed {
		text := v.Bytes(id)
		if n := min(len(text), len(forced)); !bytes.Equal(text[:n], forced[:n]) {
			return fmt.Errorf("%q is forced, but token %q is allowed", forced, text)
		}
	}
	if len(forced) == 0 && !m.Accepting() {
		first := v.Bytes(allowed[0])[0]
		if !slices.ContainsFunc(allowed, func(id int32) bool { return v.Bytes(id)[0] != first }) {
			return fmt.Errorf("only %q can follow, but nothing is forced", first)
		}
	}
	tokens := m.ForcedTokens()
	if text := v.Decode(tokens); !bytes.HasPrefix(forced, text) {
		return fmt.Errorf("forced tokens spell %q, forced is %q", text, forced)
	}
	return nil
}

// maskTrial walks over a random schema and examines masks on the way.
type maskTrial struct {
	vocab   *vocab.Vocab
	tokens  *walk.Tokens
	options schema.Options
}

const examined = 12 // positions per walk that are examined

// run walks with the choices of d and returns a fault with the text before its
// position.
func (tr *maskTrial) run(s *value, d *dice) (found *fault) {
	var at []byte
	found = safely(func() *fault {
		compiled, err := schema.Compile(appendJSON(nil, s, spacedJSON), tr.options)
		if err != nil {
			return nil
		}
		m := compiled.Grammar(tr.vocab).NewMatcher()
		// State that masks leave in a grammar must not change what it accepts.
		plain := compiled.Grammar(tr.vocab).NewMatcher()
		w := &walk.Walker{Tokens: tr.tokens, Rand: d.rng}
		for step, left := 0, examined; left > 0 && step < 200; step++ {
			at = slices.Clone(m.Text())
			if step < 4 || d.n(3) == 0 {
				left--
				if err := examineMask(m, tr.vocab); err != nil {
					return faultOf(err)
				}
			}
			mask, err := m.Mask()
			if err != nil {
				return faultOf(err)
			}
			texts := mask.Len()
			if m.Accepting() {
				texts -= len(tr.vocab.EOG())
			}
			if texts == 0 {
				return nil
			}
			token := w.Pick(mask, texts, 0.5)
			if err := m.Accept(token); err != nil {
				return faultOf(fmt.Errorf("token of the mask: %w", err))
			}
			if err := plain.Accept(token); err != nil {
				return faultOf(fmt.Errorf("refused where no mask was computed: %w", err))
			}
		}
		return nil
	})
	if found != nil {
		found.schema, found.text = s, string(at)
	}
	return found
}

// reachedLimit reports whether an error means that a limit was reached, which is not
// a fault.
func reachedLimit(err error) bool {
	var (
		walking   *decoder.LimitError
		solving   *schema.LimitError
		languages *regular.LimitError
		numbers   *number.LimitError
	)
	return errors.As(err, &walking) || errors.As(err, &solving) || errors.As(err, &languages) || errors.As(err, &numbers)
}

// faultOf converts an error to a fault, unless a limit was reached.
func faultOf(err error) *fault {
	if reachedLimit(err) {
		return nil
	}
	kind := strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '"' || r == ':' })[0]
	if strings.HasPrefix(kind, "token ") {
		kind = "token"
	}
	if kind = "mask: " + kind; ignored(kind) {
		return nil
	}
	return &fault{kind: kind, detail: err.Error()}
}

// random generates a schema from data and walks over it several times.
func (tr *maskTrial) random(data []byte) *fault {
	d := newDice(data)
	g := &schemaMaker{dice: d}
	s := g.document()
	if hasCycle(s) {
		return nil // see TestReferenceCycles
	}
	defer watch(s, watchLimit)()
	walk := func(s, _ *value) *fault {
		for i := range 3 {
			if found := tr.run(s, newDice(append(slices.Clone(data), byte(i)))); found != nil {
				return found
			}
		}
		return nil
	}
	if found := walk(s, nil); found != nil {
		return found.minimise(walk)
	}
	return nil
}

// maskTrials returns trials for all options under which masks are examined.
func maskTrials(t testing.TB, v *vocab.Vocab) []*maskTrial {
	t.Helper()
	tokens := walk.NewTokens(v)
	return []*maskTrial{
		{v, tokens, lenient},
		{v, tokens, schema.Options{}},
		{v, tokens, schema.Options{Closed: true}},
		{v, tokens, schema.Options{Whitespace: schema.Pretty}},
		{v, tokens, schema.Options{Whitespace: schema.Natural}},
	}
}

// TestMaskOracle examines masks on random schemas.
func TestMaskOracle(t *testing.T) {
	testMaskOracle(t, vocabOf(t, nastyTokens...), *randomSchemas)
}

// TestMaskOracleLlama is TestMaskOracle with a slice of a real vocabulary.
func TestMaskOracleLlama(t *testing.T) {
	testMaskOracle(t, sliceOf(t, realVocab(t, "llama3.gguf"), 61), max(*randomSchemas/20, 1))
}

func testMaskOracle(t *testing.T, v *vocab.Vocab, n int) {
	for i, tr := range maskTrials(t, v) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			faults := 0
			for i := range n {
				seed := *randomSeed + uint64(i)
				if found := tr.random(seedBytes(seed)); found != nil {
					t.Errorf("seed %d: %s", seed, found)
					if faults++; faults == *randomFaults {
						t.Fatal("further seeds are left out")
					}
				}
			}
		})
	}
}

var (
	oracleEvery = flag.Int("every", 150, "take every n-th schema in TestMaskOracleCorpus")
	oracleVocab = flag.String("oracle-vocab", "", "examine masks of this whole shared vocabulary, not of a slice, in TestMaskOracleCorpus")
)

// TestMaskOracleCorpus examines masks along instances of real schemas.
func TestMaskOracleCorpus(t *testing.T) {
	corpus := &Corpus{Paths: []string{shared.File(t, "maskbench", "maskbench-dev.tar.xz")}, Every: *oracleEvery}
	var v *vocab.Vocab
	if *oracleVocab != "" {
		v = realVocab(t, *oracleVocab)
	} else {
		v = sliceOf(t, realVocab(t, "llama3.gguf"), 61)
	}
	rng := rand.New(rand.NewPCG(*randomSeed, 0))
	err := corpus.Each(func(c Case) error {
		compiled, err := schema.Compile(c.Schema, lenient)
		if err != nil {
			return nil // counted by maskbench
		}
		g := compiled.Grammar(v)
		for i, in := range c.Tests {
			if in.Skip {
				continue
			}
			if i == 4 {
				break
			}
			at := make([]int, 5)
			for k := range at {
				at[k] = rng.IntN(len(in.Text) + 1)
			}
			slices.Sort(at)
			m := g.NewMatcher()
			from := 0
			for _, to := range at {
				if _, err := m.AcceptBytes(in.Text[from:to]); err != nil {
					break // the instance is invalid
				}
				from = to
				if err := examineMask(m, v); err != nil && faultOf(err) != nil {
					t.Errorf("%s instance %d at %d, after %q: %v", c.ID, i, to, in.Text[max(0, to-60):to], err)
					break
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// FuzzMaskOracle is TestMaskOracle with schemas and walks generated from the
// fuzzer's bytes.
func FuzzMaskOracle(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(append(seedBytes(seed), seedBytes(seed+1000)...))
	}
	trials := maskTrials(f, vocabOf(f, nastyTokens...))
	if _, err := os.Stat(shared.Path(f, "vocab", "llama3.gguf")); err == nil {
		trials = append(trials, maskTrials(f, sliceOf(f, realVocab(f, "llama3.gguf"), 211))...)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, tr := range trials {
			if found := tr.random(data); found != nil {
				t.Error(found)
			}
		}
	})
}
