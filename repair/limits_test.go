package repair

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/schema"
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

// wrong is a check that always finds as many issues as an array has items, all of which could be strings instead.
func wrong(issues int) Check {
	list := make([]schema.Issue, issues)
	for i := range list {
		list[i].Pointer = "/" + strconv.Itoa(i)
	}
	return func([]byte) ([]schema.Issue, error) { return list, nil }
}

// Conversions are tried until they have taken a certain amount of work, and until a document can't be checked.
func TestConversionsEnd(t *testing.T) {
	const items = 10_000
	text := "[" + strings.TrimSuffix(strings.Repeat("1234567,", items), ",") + "]"
	checked, most := 0, 0
	counting := func(check Check, stop int) Check {
		return func(document []byte) ([]schema.Issue, error) {
			if checked += len(document); most > 0 && checked > most {
				t.Fatal("it goes on")
			}
			if stop--; stop == 0 {
				most = checked
				return nil, context.Canceled
			}
			return check(document)
		}
	}
	out := Read(text, Options{Repair: true, Check: counting(wrong(items), -1)})
	if !out.JSON || out.Text != text || out.Err != nil || len(out.Issues) != items || !errors.Is(out.Unfinished, errTooHard) || checked > maxTried+2*len(text) {
		t.Errorf("%d bytes checked, %d issues: %v, %v", checked, len(out.Issues), out.Err, out.Unfinished)
	}
	checked = 0
	if out := Read(text, Options{Repair: true, Check: counting(wrong(items), 10)}); !errors.Is(out.Unfinished, context.Canceled) {
		t.Errorf("%v, %v", out.Err, out.Unfinished)
	}
	checked, most = 0, 0
	large := "[" + strings.TrimSuffix(strings.Repeat("1234567,", maxChanged/8), ",") + "  ]"
	if out := Read(large, Options{Repair: true, Markdown: true, Check: counting(wrong(items), -1)}); !errors.Is(out.Unfinished, errTooLarge) || len(out.Issues) != items || checked != len(large) {
		t.Errorf("%d of %d bytes checked, %v, %v", checked, len(large), out.Err, out.Unfinished)
	}
	if out := Read("[1]", Options{Repair: true, Check: wrong(1)}); out.Unfinished != nil {
		t.Error(out.Unfinished)
	}
}

// Conversions in /repair and in answers without masks share work: a document whose values can be converted in two ways each is
// checked a few times, not once for each way.
func TestConversionsTogether(t *testing.T) {
	v, err := constraint.NewValidator(t.Context(), []byte(`{"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "boolean"}, {"type": "array"}]}}`), "2020-12")
	if err != nil {
		t.Fatal(err)
	}
	for n, most := range map[int]int{60_000: 16, 10: 100} {
		ctx, checks := constraint.Together(t.Context()), 0
		out := Read("["+strings.TrimSuffix(strings.Repeat(`"1",`, n), ",")+"]", Options{Repair: true, Check: func(d []byte) ([]schema.Issue, error) {
			checks++
			return v.Issues(ctx, d)
		}})
		if checks > most || (out.Unfinished != nil) != (n > 10) || !out.JSON || len(out.Edits) != 0 {
			t.Errorf("%d values: %d checks, %v, %d edits", n, checks, out.Unfinished, len(out.Edits))
		}
	}
	// More values than issues are listed.
	v, err = constraint.NewValidator(t.Context(), []byte(`{"type": "array", "items": {"type": "integer"}}`), "2020-12")
	if err != nil {
		t.Fatal(err)
	}
	ctx := constraint.Together(t.Context())
	out := Read("["+strings.TrimSuffix(strings.Repeat(`"1",`, 100), ",")+"]", Options{Repair: true, Check: func(d []byte) ([]schema.Issue, error) { return v.Issues(ctx, d) }})
	if !out.Fine() || len(out.Edits) != 100 {
		t.Errorf("%d edits, %v, %v", len(out.Edits), out.Issues, out.Unfinished)
	}
}
