package repair

import (
	"strings"
	"testing"
)

// TestHard reads texts designed to be slow, which without the limits of the
// search would exceed the time limit of tests.
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
			out := Read(text, Options{Repair: true})
			if out.JSON && !parses(out.Text) {
				t.Errorf("%s: not JSON", name)
			}
		}
	}
}
