package main

import (
	"strings"
	"testing"
)

func TestRepairCommand(t *testing.T) {
	schema := writeTemp(t, "s.json", `{"type":"object","properties":{"plan":{"enum":["free","team"]},"n":{"type":"integer"}},"required":["plan"]}`)
	types := writeTemp(t, "t.ts", `export interface A { plan: "free" | "team" }`)
	for _, c := range []struct {
		text   string
		flags  []string
		status int
		says   string
	}{
		{"Here:\n{'plan': 'team', n: '5'}", []string{"--schema", schema}, 0, "{\"plan\":\"team\",\"n\":5}\n"},
		{`{"plan": "**team**"}`, []string{"--schema", types}, 0, "emphasis: /plan: emphasis dropped\n{\"plan\": \"team\"}\n"},
		{`{"a": "**b**"}`, []string{"--strategy", "markdown"}, 0, `{"a": "b"}`},
		{`{"a": "**b**"}`, nil, 0, `{"a": "**b**"}`},
		{`{"plan": "gold"}`, []string{"--schema", schema}, exitRefused, "/plan"},
		{`{"plan": "gold"}`, []string{"--schema", schema, "--verify=false"}, 0, `{"plan": "gold"}`},
		{`{'a': 1}`, []string{"--strategy", "clean"}, exitRefused, "1:2"},
		{`{"a": 1,}`, []string{"--json"}, 0, "\"strategies\": [\n    \"repair\"\n  ]"},
		{"nothing", nil, exitRefused, "1:2"},
		{"", nil, exitRefused, "the text is empty"},
		{"{}", []string{"--schema", writeTemp(t, "bad.json", `{"type": 5}`)}, exitWrong, "bad.json"},
		{"{}", []string{"--schema", ""}, exitWrong, "--schema is empty"},
		{"{}", []string{"--type", "A"}, exitWrong, "--type needs --schema"},
		{"{}", []string{"--strategy", "guess"}, exitWrong, `there is no strategy "guess"`},
	} {
		out, status, err := runCommand(t, c.text, append([]string{"repair"}, c.flags...)...)
		if err != nil {
			out += err.Error()
		}
		if status != c.status || !strings.Contains(out, c.says) {
			t.Errorf("%q %v: status %d, want %d; says %s", c.text, c.flags, status, c.status, out)
		}
	}
	if out, status, _ := runCommand(t, "", "repair", writeTemp(t, "a.txt", "```\n[1]\n```")); status != 0 || !strings.HasSuffix(out, "[1]\n") {
		t.Errorf("of a file: %d %s", status, out)
	}
}

func TestSignalsCommand(t *testing.T) {
	sample := writeTemp(t, "b.txt", "It is Bern.")
	out, status, _ := runCommand(t, "I am not sure, but I think it is Paris.", "signals", "--sample", sample)
	if status != 0 || !strings.Contains(out, `"source": "keywords"`) || !strings.Contains(out, `"agreement": `) || !strings.Contains(out, `"recommendation": `) {
		t.Errorf("%d %s", status, out)
	}
	if out, status, _ = runCommand(t, `{"confidence": 0.1}`, "signals", "--document"); status != 0 || !strings.Contains(out, `"source": "defaults"`) {
		t.Errorf("%d %s", status, out)
	}
}
