package repair

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/schema"
)

// oneOf returns a check that a document has a single member with the given name and one of
// these values.
func oneOf(name string, values ...string) Check {
	return func(document []byte) ([]schema.Issue, error) {
		var members map[string]any
		if err := json.Unmarshal(document, &members); err != nil {
			return []schema.Issue{{Reason: err.Error()}}, nil
		}
		if _, there := members[name]; !there || len(members) != 1 {
			return []schema.Issue{{Keyword: "required", Reason: name + " is missing"}}, nil
		}
		for _, v := range values {
			var want any
			if err := json.Unmarshal([]byte(v), &want); err == nil && want == members[name] {
				return nil, nil
			}
		}
		return []schema.Issue{{Pointer: "/" + name, Keyword: "enum", Reason: "none of them"}}, nil
	}
}

// A text of many markers is fast: with quadratic time the test would not finish.
func TestManyMarkers(t *testing.T) {
	for _, unit := range []string{"**a** ", "**", "`**a** ", "*a* ", "** a"} {
		text := `{"a": "` + strings.Repeat(unit, 300_000) + `"}`
		if out := Read(text, Options{Markdown: true}); !out.JSON {
			t.Errorf("%q: %v", unit, out.Err)
		}
	}
}

func TestMarkdownInStrings(t *testing.T) {
	for _, c := range []struct {
		text  string
		check Check
		opt   Options
		want  string
	}{
		// Removed if that makes the document valid.
		{`{"plan": "**team**"}`, oneOf("plan", `"free"`, `"team"`), Options{}, `{"plan": "team"}`},
		{`{"tool": "*weather*"}`, oneOf("tool", `"weather"`), Options{}, `{"tool": "weather"}`},
		{"{\"tool\": \"`weather`\"}", oneOf("tool", `"weather"`), Options{}, `{"tool": "weather"}`},
		{`{"tool": "***__weather__***"}`, oneOf("tool", `"weather"`), Options{}, `{"tool": "weather"}`},
		{`{"**answer**": "a"}`, oneOf("answer", `"a"`), Options{}, `{"answer": "a"}`},
		{`{"**answer**": "**a**"}`, oneOf("answer", `"a"`), Options{}, `{"answer": "a"}`},
		{`{"answer": "**4**"}`, oneOf("answer", `4`), Options{Repair: true}, `{"answer": 4}`},
		{"```json\n{\"plan\": \"**team**\"}\n```", oneOf("plan", `"team"`), Options{}, `{"plan": "team"}`},
		// Kept if the document is valid with it, or invalid without it too.
		{`{"answer": "**4**"}`, nil, Options{}, `{"answer": "**4**"}`},
		{`{"answer": "**4**"}`, oneOf("answer", `"**4**"`), Options{Markdown: true}, `{"answer": "**4**"}`},
		{`{"answer": "**5**"}`, oneOf("answer", `"4"`), Options{}, `{"answer": "**5**"}`},
		{`{"answer": "**4**"}`, oneOf("answer", `4`), Options{}, `{"answer": "**4**"}`},
		// On request.
		{`{"answer": "**4**", "**why**": "It is **two** times _two_."}`, nil, Options{Markdown: true}, `{"answer": "4", "why": "It is two times _two_."}`},
		{`{"a": "2**3 and 4**5", "b": "__init__", "c": "* a", "d": "**a** and **b**", "e": "** a **"}`, nil, Options{Markdown: true},
			`{"a": "2**3 and 4**5", "b": "__init__", "c": "* a", "d": "a and b", "e": "** a **"}`},
		{`{"a": "**x**", "**a**": 1}`, nil, Options{Markdown: true}, `{"a": "x", "**a**": 1}`},
		{`{"f": "` + "`**kwargs` and **bold**" + `"}`, nil, Options{Markdown: true}, `{"f": "` + "`**kwargs` and bold" + `"}`},
		{`["**<é\"**", [{"x": "*y*"}]]`, nil, Options{Markdown: true}, `["<é\"", [{"x": "y"}]]`},
	} {
		c.opt.Check = c.check
		out := Read(c.text, c.opt)
		if out.Text != c.want {
			t.Errorf("%s: %s, want %s (%v, %v)", c.text, out.Text, c.want, out.Edits, out.Issues)
		}
		if changed := strings.Contains(c.text, "fence") || out.Text != c.text; changed != out.Edited(StepMarkers) && !out.Edited(StepFence) {
			t.Errorf("%s: edits %v", c.text, out.Edits)
		}
	}
}
