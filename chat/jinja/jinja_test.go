package jinja

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// fixedTime is the time with which the expected results were generated.
func fixedTime() time.Time { return time.Date(2025, 3, 9, 14, 5, 6, 0, time.UTC) }

func vars(t testing.TB, data []byte) map[string]any {
	t.Helper()
	v, err := FromJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	d := v.(*Dict)
	for i, key := range d.keys {
		out[key.(string)] = d.values[i]
	}
	return out
}

// TestAgainstJinja compares with the output of Python's Jinja 3.1, with the
// settings that chat templates assume.
func TestAgainstJinja(t *testing.T) {
	data, err := os.ReadFile("testdata/jinja.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vars  json.RawMessage
		Cases []struct {
			T     string
			Want  *string
			Error string
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	values := vars(t, file.Vars)
	for _, c := range file.Cases {
		template, err := Parse(c.T)
		got := ""
		if err == nil {
			got, err = template.Render(values, Options{Now: fixedTime})
		}
		var e *Error
		switch {
		case c.Want == nil && err == nil:
			t.Errorf("%q\n  got  %q\n  want error %s", c.T, got, c.Error)
		case c.Want == nil && (!errors.As(err, &e) || e.Line == 0):
			t.Errorf("%q: error without a place: %v", c.T, err)
		case c.Want != nil && err != nil:
			t.Errorf("%q\n  got  %v\n  want %q", c.T, err, *c.Want)
		case c.Want != nil && got != *c.Want:
			t.Errorf("%q\n  got  %q\n  want %q", c.T, got, *c.Want)
		}
	}
}

func TestErrorPlaces(t *testing.T) {
	for _, c := range []struct {
		template, want string
		kind           Kind
	}{
		{"a\n  {{ x y }}", "jinja: 2:8: expected '}}', found 'y'", Syntax},
		{"{% for x in y %}\n{{ x }", "jinja: 2:6: unexpected \"}\"", Syntax},
		{"{% if a %}\n{% for b in c %}{% endif %}", "jinja: 2:20: unknown statement 'endif'", Syntax},
		{"\n{% if a %}", "jinja: 2:4: 'endif' is missing", Syntax},
		{"{{ 'é' ~ 'ab }}", "jinja: 1:10: string is not closed", Syntax},
		{"{# never\nclosed", "jinja: 1:1: comment is not closed", Syntax},
		{"{% raw %}{{ x }}", "jinja: 1:1: raw is not closed", Syntax},
		{"{{ a|frobnicate }}", "jinja: 1:6: no filter named 'frobnicate'", Syntax},
		{"{{ a is frobnicated }}", "jinja: 1:9: no test named 'frobnicated'", Syntax},
		{"{{ a ? b }}", "jinja: 1:6: unexpected character '?'", Syntax},
		{"{% include 'x' %}", "jinja: 1:4: 'include' is not supported: a chat template stands alone", Syntax},
		{"{% macro m(a=1, b) %}{% endmacro %}", "jinja: 1:17: parameter 'b' has no default value, but one before it has", Syntax},
		{"{{ f(a=1, 2) }}", "jinja: 1:11: argument without a name after one with a name", Syntax},
		{"{{ 99999999999999999999 }}", "jinja: 1:4: '99999999999999999999' is not a whole number that can be handled", Syntax},
		{"\n\n  {{ missing.x }}", "jinja: 3:13: 'missing' is undefined", Runtime},
		{"{{ 'a'\n + none }}", "jinja: 2:2: can only concatenate str (not \"NoneType\") to str", Runtime},
		{"{% for x in l %}\n{{ x|int / 0 }}{% endfor %}", "jinja: 2:10: division by zero", Runtime},
		{"{% macro m() %}\n{{ 1 + 'a' }}{% endmacro %}\n{{ m() }}", "jinja: 2:6: unsupported operand type(s) for +: 'int' and 'str'", Runtime},
		{"{{ raise_exception('no\nway') }}", "jinja: 1:19: no\nway", Raised},
		{"{{ l.append(1) }}", "jinja: 1:12: access to attribute 'append' of 'list' object is unsafe.", Runtime},
		{"{{ l.sort(1) }}", "jinja: 1:10: access to attribute 'sort' of 'list' object is unsafe.", Runtime},
		{"{{ [1].pop(3) }}", "jinja: 1:11: pop index out of range", Runtime},
		{"{{ [].pop() }}", "jinja: 1:10: pop from empty list", Runtime},
		{"{{ 'a'|from_json }}", "jinja: 1:8: from_json: invalid character 'a' looking for beginning of value", Runtime},
	} {
		template, err := Parse(c.template)
		if err == nil {
			_, err = template.Render(map[string]any{"l": NewList(int64(1))}, Options{})
		}
		var e *Error
		if !errors.As(err, &e) || err.Error() != c.want || e.Kind != c.kind {
			t.Errorf("%q\n  got  %v\n  want %s", c.template, err, c.want)
		}
	}
}

// TestLimits renders templates that would need unlimited time, memory or
// stack.
func TestLimits(t *testing.T) {
	deep := func(open, inner, end string) string {
		return strings.Repeat(open, 100_000) + inner + strings.Repeat(end, 100_000)
	}
	doubling := "{% set ns = namespace(x=[1]) %}{% for i in range(200) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}"
	for name, source := range map[string]string{
		"loops":            "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
		"output":           "{% for a in range(100000) %}{{ 'x' * 100000 }}{% endfor %}",
		"recursion":        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
		"mutual recursion": "{% macro f(g) %}{{ g(g) }}{% endmacro %}{{ f(f) }}",
		"recursive loop":   "{% set l = [1] %}{% for x in l recursive %}{{ loop(l) }}{% endfor %}",
		"range":            "{{ range(10 ** 15)|length }}",
		"repeated text":    "{{ 'x' * 10 ** 15 }}",
		"repeated list":    "{{ ([1] * 10 ** 15)|length }}",
		"doubled text":     "{% set ns = namespace(s='ab') %}{% for i in range(100) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
		"printed list":     doubling + "{{ ns.x }}",
		"appended list":    "{% set l = [] %}{% for i in range(100000) %}{% set _ = l.append(l) %}{% endfor %}{{ l }}",
		"list in itself":   "{% set l = [] %}{% set _ = l.append(l) %}{{ l|tojson }}",
		"list as JSON":     doubling + "{{ ns.x|tojson }}",
		"compared lists":   "{% set ns = namespace(x=[1], y=[1]) %}{% for i in range(200) %}{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}{{ ns.x == ns.y }}",
		"deep list":        "{% set ns = namespace(x=[]) %}{% for i in range(90000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
		"deep JSON":        "{% set ns = namespace(x=[]) %}{% for i in range(90000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x|tojson }}",
		"deep comparison":  "{% set ns = namespace(x=[], y=[]) %}{% for i in range(90000) %}{% set ns.x = [ns.x] %}{% set ns.y = [ns.y] %}{% endfor %}{{ ns.x == ns.y }}",
		"wide format":      "{% for i in range(100000) %}{{ '%10000d' % 1 }}{% endfor %}",
		"padding":          "{% for i in range(100000) %}{{ 'x'.center(1000000000) }}{% endfor %}",
		"replacing":        "{{ ('x' * 100000)|replace('', 'y' * 100000) }}",
		"joining":          "{{ range(100000)|join('x' * 100000) }}",
		"searching":        "{% set l = range(100000)|list %}{% for i in l %}{{ 'x' in l }}{% endfor %}",
		"sorting":          "{% for i in range(1000) %}{% set x = range(100000)|sort %}{% endfor %}",
		"parentheses":      "{{ " + deep("(", "1", ")") + " }}",
		"lists":            "{{ " + deep("[", "1", "]") + " }}",
		"dictionaries":     "{{ " + deep("{1:", "1", "}") + " }}",
		"calls":            "{{ " + deep("f(", "1", ")") + " }}",
		"signs":            "{{ " + deep("-", "1", "") + " }}",
		"not":              "{{ " + deep("not ", "1", "") + " }}",
		"conditions":       "{{ " + deep("1 if 1 else ", "1", "") + " }}",
		"statements":       strings.Repeat("{% if 1 %}", 20_000),
		"targets":          "{% set " + deep("(", "a", ")") + " = 1 %}",
		"sums":             "{{ 1" + strings.Repeat(" + 1", 100_000) + " }}",
		"conjunctions":     "{{ 1" + strings.Repeat(" and 1", 100_000) + " }}",
		"attributes":       "{{ a" + strings.Repeat(".a", 100_000) + " }}",
		"filters":          "{{ 'a'" + strings.Repeat("|e", 100_000) + " }}",
		"length":           strings.Repeat("x", maxSource+1),
	} {
		t.Run(name, func(t *testing.T) {
			template, err := Parse(source)
			var text string
			if err == nil {
				text, err = template.Render(nil, Options{Limits: Limits{Steps: 1_000_000, Output: 10 << 20, Bytes: 64 << 20}})
			}
			var e *Error
			if !errors.As(err, &e) || e.Kind != Limit {
				t.Errorf("got %v and %d bytes", err, len(text))
			}
		})
	}
}

func TestTimeLimit(t *testing.T) {
	template, err := Parse("{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	_, err = template.Render(nil, Options{Limits: Limits{Steps: 1 << 40, Time: 50 * time.Millisecond}})
	if err == nil || !strings.Contains(err.Error(), "took longer than 50ms") {
		t.Errorf("got %v", err)
	}
}

func TestFromGo(t *testing.T) {
	for _, c := range []struct {
		in   any
		want string
	}{
		{map[string]any{"b": 1, "a": []string{"x"}}, "{'a': ['x'], 'b': 1}"},
		{json.RawMessage(`{"b":1,"a":2.0,"c":1e2}`), "{'b': 1, 'a': 2.0, 'c': 100.0}"},
		{[]any{nil, true, 1, 2.5, "x", json.Number("7")}, "[None, True, 1, 2.5, 'x', 7]"},
		{int32(5), "5"}, {float32(0.5), "0.5"}, {struct{ A int }{3}, "{'A': 3}"}, {[]string{}, "[]"},
		{json.RawMessage(`123456789012345678901`), "123456789012345678901"},
	} {
		v, err := FromGo(c.in)
		if text, _ := repr(v, 1000); err != nil || text != c.want {
			t.Errorf("%v is %s %v, want %s", c.in, text, err, c.want)
		}
	}
	for _, bad := range []string{"", "{", "[1,]", "1 2", `{"a"}`, "nul"} {
		if v, err := FromJSON([]byte(bad)); err == nil {
			t.Errorf("%q is read as %v", bad, v)
		}
	}
	if _, err := FromGo(func() {}); err == nil {
		t.Error("a function is a value")
	}
}

func ExampleParse() {
	template, err := Parse("{% for m in messages %}{{ loop.index }}. {{ m.content | trim }}\n{% endfor %}")
	if err != nil {
		fmt.Println(err)
		return
	}
	messages, _ := FromJSON([]byte(`[{"content": " hello "}, {"content": "bye"}]`))
	text, err := template.Render(map[string]any{"messages": messages}, Options{})
	fmt.Print(text, err)
	// Output:
	// 1. hello
	// 2. bye
	// <nil>
}

func FuzzRender(f *testing.F) {
	data, err := os.ReadFile("testdata/jinja.json")
	if err != nil {
		f.Fatal(err)
	}
	var file struct {
		Vars  json.RawMessage
		Cases []struct{ T string }
	}
	if err := json.Unmarshal(data, &file); err != nil {
		f.Fatal(err)
	}
	for _, c := range file.Cases {
		f.Add(c.T)
	}
	values := vars(f, file.Vars)
	f.Fuzz(func(t *testing.T, source string) {
		template, err := Parse(source)
		if err == nil {
			_, err = template.Render(values, Options{Limits: Limits{Steps: 20_000, Bytes: 1 << 20, Output: 1 << 20}})
		}
		var e *Error
		if err != nil && !errors.As(err, &e) {
			t.Errorf("an error of another type: %v", err)
		}
	})
}

// Queues, and JSON in texts, as in templates with tool calls.
func TestQueues(t *testing.T) {
	for source, want := range map[string]string{
		"{% set q = [1, 2] %}{% set _ = q.append(3) %}{{ q.pop(0) }}{{ q.pop() }}{{ q }}":                      "13[2]",
		"{% set q = [1] %}{% set p = q.copy() %}{% set _ = p.append(2) %}{{ q }}{{ p }}":                       "[1][1, 2]",
		"{% set q = [1, 2] %}{% for x in q[:1] %}{% set _ = q.pop() %}{% endfor %}{{ q }}":                     "[1]",
		"{% for k, v in ('{\"b\": [1, null], \"a\": \"é\"}'|from_json).items() %}{{ k }}={{ v }};{% endfor %}": "b=[1, None];a=é;",
		"{{ v|tojson }} {{ v is string }} {{ v is mapping }} {{ 'x' ~ v }} {{ [v] }}":                          "{1 False False x{1 [{1]",
	} {
		template, err := Parse(source)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := template.Render(map[string]any{"v": Verbatim("{1")}, Options{}); got != want || err != nil {
			t.Errorf("%s\n  got  %q, %v\n  want %q", source, got, err, want)
		}
	}
}
