package spelling

import (
	"strings"
	"testing"

	"github.com/stencil-json/stencil/regular"
)

// read feeds the inside of a string literal to a language and reports whether
// it is accepted.
func read(m *regular.Machine, free bool, inside string) bool {
	at := Place{State: m.Start()}
	known := map[Place]*Recorder{}
	for i := range len(inside) {
		s := &String{Machine: m, State: at.State, Free: free}
		var ok bool
		if at, ok = s.Step(at.Sub, inside[i], known); !ok {
			return false
		}
	}
	return at.Sub == 0 && m.Accepting(at.State)
}

func TestSpellings(t *testing.T) {
	store := regular.NewStore(regular.Limits{})
	m, err := store.Compile(store.Strings([]string{"a", "é", "日", "😀", "\n", `"`, "/", "\x01"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		inside       string
		free, strict bool
	}{
		{"a", true, true}, {"b", false, false}, {"é", true, true}, {"日", true, true}, {"😀", true, true},
		{`\u0061`, true, false}, {`\u00e9`, true, false}, {`\u00E9`, true, false}, {`\ud83d\ude00`, true, false},
		{`\n`, true, true}, {`\u000a`, true, false}, {"\n", false, false}, {`\"`, true, true}, {`\/`, true, false}, {`/`, true, true},
		{`\u0001`, true, true}, {"\x01", false, false}, {`\ud83d`, false, false}, {`\ude00`, false, false}, {`\ud83d\u0061`, false, false},
		{"\xC3", false, false}, {"\xC3\x28", false, false}, {"\xE6\x97", false, false}, {"\xED\xA0\x80", false, false},
		{"\xC1\xA1", false, false}, {`\u006`, false, false}, {`\x`, false, false},
	} {
		if got := read(m, true, c.inside); got != c.free {
			t.Errorf("%q: %t", c.inside, got)
		}
		if got := read(m, false, c.inside); got != c.strict {
			t.Errorf("%q without needless escapes: %t", c.inside, got)
		}
	}
}

// A partially read character can be completed.
func TestFinishCharacter(t *testing.T) {
	store := regular.NewStore(regular.Limits{})
	m, err := store.Compile(store.Strings([]string{"日本", "😀", "\x01"}))
	if err != nil {
		t.Fatal(err)
	}
	for _, begun := range []string{"\xE6", "\xE6\x97", "\xF0", "\xF0\x9F\x98", `\`, `\u`, `\u0`, `\ud83d`, `\ud83d\`, `\ud83d\ude`, `\u65`} {
		at, known := Place{State: m.Start()}, map[Place]*Recorder{}
		for i := range len(begun) {
			var ok bool
			if at, ok = (&String{Machine: m, State: at.State, Free: true}).Step(at.Sub, begun[i], known); !ok {
				t.Fatalf("%q is refused", begun)
			}
		}
		rest, _ := FinishCharacter(&String{Machine: m, State: at.State, Free: true}, at.State, at.Sub)
		if text := begun + rest; !read(m, true, text) && !read(m, true, text+"本") && !strings.HasSuffix(text, `\u672c`) {
			t.Errorf("%q is finished as %q", begun, text)
		}
	}
}
