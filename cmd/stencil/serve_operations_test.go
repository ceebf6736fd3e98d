package main

import "testing"

// TestSharePrompts checks when prompts are reused within a key alone.
func TestSharePrompts(t *testing.T) {
	for _, c := range []struct {
		keys  []string
		share bool
		want  bool
	}{
		{nil, false, false},
		{[]string{"a"}, false, false},
		{[]string{"a", "a"}, false, false},
		{[]string{"b", "a", "b"}, false, true},
		{[]string{"a", "b"}, true, false},
	} {
		f := new(serveFlags)
		f.hosts = []string{"localhost"}
		f.operations.keys, f.prompts.share = c.keys, c.share
		if err := f.checkOperations(); err != nil || f.engine.Apart != c.want {
			t.Errorf("%q, --share-prompts %v: apart %v, %v", c.keys, c.share, f.engine.Apart, err)
		}
	}
}
