package repair

import (
	"strings"
	"testing"
	"time"
)

// TestHard reads texts made to be slow.
func TestHard(t *testing.T) {
	const n = 100 << 10
	for name, piece := range map[string]string{
		"brackets": "[", "objects": `{"a":`, "prose": "a [", "fences": "```[", "quotes": `"`, "escaped": `\"`, "escaped objects": `{\"a\":`,
		"single": "'", "inner": ` "a" b`, "commas": ",", "members": `"a": "b", `, "missing": `{"a" "b" `, "closers": "]", "mixed": "[}", "comments": "/* */", "hash": "#\n",
		"bold": "**", "bold values": `: **"x"`, "typographic": "“", "typographic members": `{“a”: `, "words": "a ", "colons": ":", "numbers": "1 ", "tuples": "(1,", "surrogates": `"\ud800`,
		"bytes": "\xff", "arrays": `[1, [2, [3], `, "records": `{"a": 1, "b": "x" `, "strings": `"x" "y" `,
	} {
		for _, prefix := range []string{"", "x ", "[", `{"a": "`} {
			text := prefix + strings.Repeat(piece, n/len(piece))
			start := time.Now()
			out := Read(text, Options{Repair: true})
			if took := time.Since(start); took > 4*time.Second {
				t.Errorf("%s after %q: %v", name, prefix, took)
			} else if took > 300*time.Millisecond {
				t.Logf("%s after %q: %v", name, prefix, took)
			}
			if out.JSON && !parses(out.Text) {
				t.Errorf("%s: not JSON", name)
			}
		}
	}
}
