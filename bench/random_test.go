package bench

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stencil-json/stencil/decoder/walk"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/vocab"
)

var (
	randomSchemas = flag.Int("random", 300, "number of random schemas for tests with random schemas")
	randomSeed    = flag.Uint64("seed", 1, "first seed for tests with random schemas")
	randomLast    = flag.String("last", "", "write the schema being worked on to this file, for faults that end the process")
	randomIgnore  = flag.String("ignore", "", "kinds of faults to pass over, separated by semicolons, while they wait for their repair")
	randomFaults  = flag.Int("faults", 3, "number of faults after which tests with random schemas end")
)

// watch ends the process and prints the schema if a case takes too long; the test's
// own timeout would not show it.
func watch(what fmt.Stringer, limit time.Duration) (stop func()) {
	if *randomLast != "" {
		if err := os.WriteFile(*randomLast, []byte(what.String()), 0o600); err != nil {
			panic(err)
		}
	}
	timer := time.AfterFunc(limit, func() {
		fmt.Fprintf(os.Stderr, "no end after %v with schema\n%s\n", limit, what)
		panic("a random schema takes too long")
	})
	return func() { timer.Stop() }
}

const watchLimit = 60 * time.Second

// trial compares the engine with the validator.
type trial struct {
	tokens *walk.Tokens
	engine Engine // lenient
	served Engine // with the options of generation
}

func newTrial(v *vocab.Vocab) *trial {
	return &trial{walk.NewTokens(v), NewEngine(v, lenient), NewEngine(v, schema.Options{Closed: true})}
}

// fault is a disagreement.
type fault struct {
	kind             string // independent of the size of the case
	schema, instance *value // instance is nil if the schema alone shows the fault
	text             string // a document that isn't JSON, instead of an instance
	detail           string
}

func (f *fault) String() string {
	s := fmt.Sprintf("%s: %s\n\tschema   %s", f.kind, f.detail, f.schema)
	if f.instance != nil {
		s += fmt.Sprintf("\n\tinstance %s", f.instance)
	}
	if f.text != "" {
		s += fmt.Sprintf("\n\ttext     %q", f.text)
	}
	return s
}

// draftNames maps folders of the suite to the names of [Constraint.Draft].
var draftNames = map[string]string{
	"draft4": "draft-04", "draft6": "draft-06", "draft7": "draft-07", "draft2019-09": "2019-09", "draft2020-12": "2020-12",
}

// draftOf returns the draft that $schema names.
func draftOf(s *value) string {
	if m := s.member("$schema"); m != nil {
		for _, d := range suiteDrafts {
			if d.metaschema == m.text {
				return draftNames[d.folder]
			}
		}
	}
	return "2020-12"
}

// ignored reports whether faults of a kind are ignored.
func ignored(kind string) bool {
	return *randomIgnore != "" && slices.ContainsFunc(strings.Split(*randomIgnore, ";"), func(s string) bool { return strings.Contains(kind, s) })
}

// safely converts a panic to a fault.
func safely(f func() *fault) (found *fault) {
	defer func() {
		if p := recover(); p != nil {
			text := fmt.Sprint(p)
			found = &fault{kind: "panic: " + text[:min(len(text), 60)], detail: text}
		}
	}()
	return f()
}

// compare feeds one instance under one schema and reports a fault if engine
// and validator disagree.
func (tr *trial) compare(s, instance *value) *fault {
	found := safely(func() *fault {
		text := appendJSON(nil, s, spacedJSON)
		c, err := tr.engine.Compile(text)
		var unsatisfiable *schema.UnsatisfiableError
		var limit *schema.LimitError
		switch {
		case errors.As(err, &unsatisfiable), errors.As(err, &limit), err == nil:
		case strings.Contains(err.Error(), "without an end"):
			if hasCycle(s) {
				return nil
			}
			return &fault{kind: "sees a cycle where there is none", detail: err.Error()}
		default:
			return &fault{kind: "refused", detail: err.Error()}
		}
		if limit != nil || hasCycle(s) {
			return nil
		}
		j, err := newJudge(text, draftOf(s))
		if err != nil {
			return nil // generated schemas may break a rule of their metaschema
		}
		document := appendJSON(nil, instance, spacedJSON)
		verdict := j.validate(document)
		if verdict == errUndecided {
			return nil
		}
		accepted, why := false, error(unsatisfiable)
		if unsatisfiable == nil {
			accepted, why = accepts(c, document)
		}
		switch {
		case reachedLimit(why):
			return nil
		case accepted && verdict != nil:
			return &fault{kind: "accepts invalid", detail: strings.ReplaceAll(verdict.Error(), "\n", " ")}
		case !accepted && verdict == nil && unsatisfiable != nil:
			return &fault{kind: "calls satisfiable schema unsatisfiable", detail: why.Error()}
		case !accepted && verdict == nil:
			return &fault{kind: "refuses valid", detail: why.Error()}
		}
		return nil
	})
	if found != nil {
		found.schema, found.instance = s, instance
	}
	return found
}

// hasCycle reports whether a schema refers to itself without a step into the
// instance. The meaning of such schemas is undefined, and validators differ.
func hasCycle(root *value) bool {
	const (
		open = 1
		done = 2
	)
	state := map[*value]int{}
	var visit func(s *value) bool
	visit = func(s *value) bool {
		if s == nil || s.kind != kindObject || state[s] == done {
			return false
		}
		if state[s] == open {
			return true
		}
		state[s] = open
		for i, key := range s.keys {
			item := s.items[i]
			var in []*value
			switch key {
			case "$ref":
				target := root
				for _, step := range strings.Split(strings.TrimPrefix(item.text, "#"), "/")[1:] {
					step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
					if n, err := strconv.Atoi(step); err == nil && target != nil && target.kind == kindArray && n < len(target.items) {
						target = target.items[n]
					} else {
						target = target.member(step)
					}
				}
				in = []*value{target}
			case "not", "if", "then", "else":
				in = []*value{item}
			case "allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies":
				in = item.items
			}
			if slices.ContainsFunc(in, visit) {
				return true
			}
		}
		state[s] = done
		return false
	}
	return slices.ContainsFunc(root.nodes(nil), visit)
}

// minimise returns the fault with a smaller schema and instance.
func (f *fault) minimise(compare func(s, instance *value) *fault) *fault {
	same := func(s, instance *value) bool {
		g := compare(s, instance)
		return g != nil && g.kind == f.kind
	}
	for range 2 {
		f.schema = shrink(f.schema, func(s *value) bool { return same(s, f.instance) })
		if f.instance != nil {
			f.instance = shrink(f.instance, func(i *value) bool { return same(f.schema, i) })
		}
	}
	return compare(f.schema, f.instance)
}

// documents samples documents of a schema, as text, and returns the faults that the
// walks themselves find.
func (tr *trial) documents(e Engine, s *value, n int, seed uint64) (texts []string, found *fault) {
	found = safely(func() *fault {
		c, err := e.Compile(appendJSON(nil, s, spacedJSON))
		if err != nil {
			return nil
		}
		w := &walker{
			Walker:  walk.Walker{Tokens: tr.tokens, Rand: rand.New(rand.NewPCG(seed, 1))},
			options: &Walk{AnySpelling: e == tr.engine},
		}
		j, err := newJudge(appendJSON(nil, s, spacedJSON), draftOf(s))
		if err != nil || hasCycle(s) {
			j = nil
		}
		for range n {
			text, err := w.Document(c.NewMatcher())
			var f *walk.Fault
			if errors.As(err, &f) {
				if kind := "walk: " + string(f.Kind); f.Kind != walk.Limit && !ignored(kind) {
					return &fault{kind: kind, text: string(text), detail: f.Reason}
				}
				continue
			}
			if err := w.check(text, appendJSON(nil, s, spacedJSON), j); err != nil && err != errUndecided {
				return &fault{kind: "walk: violation", text: string(text), detail: strings.ReplaceAll(err.Error(), "\n", " ")}
			}
			texts = append(texts, string(text))
		}
		return nil
	})
	if found != nil {
		found.schema = s
	}
	return texts, found
}

// walkFault returns documents as a function that can be minimised.
func (tr *trial) walkFault(e Engine, n int, seed uint64) func(s, _ *value) *fault {
	return func(s, _ *value) *fault {
		_, found := tr.documents(e, s, n, seed)
		return found
	}
}

// random generates a schema from data and compares engine and validator in all ways.
func (tr *trial) random(data []byte) *fault {
	d := newDice(data)
	g := &schemaMaker{dice: d}
	s := g.document()
	if hasCycle(s) {
		return nil // see TestReferenceCycles
	}
	defer watch(s, watchLimit)()
	const documents = 6
	var instances []*value
	for _, e := range []Engine{tr.engine, tr.served} {
		texts, found := tr.documents(e, s, documents, 1)
		if found != nil {
			return found.minimise(tr.walkFault(e, documents, 1))
		}
		for _, text := range texts {
			v, err := parseValue([]byte(text))
			if err != nil {
				return &fault{kind: "no json", schema: s, text: text, detail: err.Error()}
			}
			// The same value under the lenient options, then mutations of it.
			instances = append(instances, v)
			for range 4 {
				v = d.mutate(v)
				instances = append(instances, v)
			}
		}
	}
	for range 12 {
		instances = append(instances, d.instance(3))
	}
	for _, instance := range instances {
		if found := tr.compare(s, instance); found != nil {
			return found.minimise(tr.compare)
		}
	}
	return nil
}

// seedBytes converts a seed to input for dice.
func seedBytes(seed uint64) []byte {
	return binary.LittleEndian.AppendUint64(nil, seed*0x9E3779B97F4A7C15)
}

// TestRandomSchemas compares engine and validator on random schemas: sampled
// documents must be valid, and mutated instances must be accepted exactly if the
// validator accepts them.
func TestRandomSchemas(t *testing.T) {
	tr := newTrial(vocabOf(t, nastyTokens...))
	faults := 0
	for i := range *randomSchemas {
		seed := *randomSeed + uint64(i)
		if found := tr.random(seedBytes(seed)); found != nil {
			t.Errorf("seed %d: %s", seed, found)
			if faults++; faults == *randomFaults {
				t.Fatal("further seeds are left out")
			}
		}
	}
}

// TestReferenceCycles checks that schemas that refer to themselves without a step
// into the instance are refused, or at least cause no panic or hang.
func TestReferenceCycles(t *testing.T) {
	engine := NewEngine(vocabOf(t), lenient)
	cyclic := 0
	for seed := *randomSeed; cyclic < *randomSchemas/10; seed++ {
		d := newDice(seedBytes(seed))
		s := (&schemaMaker{dice: d}).document()
		if !hasCycle(s) {
			continue
		}
		cyclic++
		stop := watch(s, watchLimit)
		if c, err := engine.Compile(appendJSON(nil, s, spacedJSON)); err == nil {
			for range 10 {
				// Either result is acceptable.
				_, _ = accepts(c, appendJSON(nil, d.instance(3), spacedJSON))
			}
		}
		stop()
	}
}

// FuzzRandomSchemas is TestRandomSchemas with schemas generated from the fuzzer's
// bytes.
func FuzzRandomSchemas(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(append(seedBytes(seed), seedBytes(seed+1000)...))
	}
	tr := newTrial(vocabOf(f, nastyTokens...))
	f.Fuzz(func(t *testing.T, data []byte) {
		if found := tr.random(data); found != nil {
			t.Error(found)
		}
	})
}
