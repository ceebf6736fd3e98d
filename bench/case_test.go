package bench

import (
	"flag"
	"testing"
)

var caseFile = flag.String("case", "testdata/own", "corpus to examine in TestCase: walks, instances and masks, every fault minimised")

// TestCase examines the schemas of a corpus like the tests with random schemas, and
// prints a small schema for every fault.
func TestCase(t *testing.T) {
	cases, err := (&Corpus{Paths: []string{*caseFile}}).All()
	if err != nil {
		t.Fatal(err)
	}
	v := vocabOf(t, nastyTokens...)
	tr := newTrial(v)
	for _, c := range cases {
		s, err := parseValue(c.Schema)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range []Engine{tr.engine, tr.served} {
			for seed := range uint64(10) {
				if _, found := tr.documents(e, s, 20, seed); found != nil {
					t.Errorf("%s, options %d: %s", c.ID, i, found.minimise(tr.walkFault(e, 20, seed)))
					break
				}
			}
		}
		for _, in := range c.Tests {
			if found := tr.compare(s, in.data); found != nil {
				t.Errorf("%s: %s", c.ID, found.minimise(tr.compare))
			}
		}
		for i, mt := range maskTrials(t, v) {
			walk := func(s, _ *value) *fault {
				for seed := range uint64(5) {
					if found := mt.run(s, newDice(seedBytes(seed))); found != nil {
						return found
					}
				}
				return nil
			}
			if found := walk(s, nil); found != nil {
				t.Errorf("%s, masks %d: %s", c.ID, i, found.minimise(walk))
			}
		}
	}
}
