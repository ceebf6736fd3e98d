package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/agent/signals"
	"github.com/stencil-json/stencil/backend/remote"
)

// TestSignalsOfUpstreams checks that upstreams get the instruction, and that their
// signals are read and not shown.
func TestSignalsOfUpstreams(t *testing.T) {
	for _, c := range []struct {
		name, line, text string
		schema           bool
		from             signals.Source
	}{
		{"block", "It is Paris.\n\n" + noteBlock, "It is Paris.", false, signals.FromBlock},
		{"damaged block", "It is Paris.\n```cortex-signals\n{confidence: 0.9, difficulty: 'hard', escalation: verify,}", "It is Paris.", false, signals.FromBlock},
		{"nothing", "It is\n\nParis.\n", "It is\n\nParis.\n", false, signals.FromDefaults},
		{"what is no block", "It is\n```cortex\nParis\n```\nor {\"confid\": 1}", "It is\n```cortex\nParis\n```\nor {\"confid\": 1}", false, signals.FromDefaults},
		{"document", `{"name":"Ann","age":12}` + "\n" + noteBlock, `{"name":"Ann","age":12}`, true, signals.FromBlock},
		{"document and object", `{"name":"Ann","age":12}` + "\n\n" + noteText, `{"name":"Ann","age":12}`, true, signals.FromObject},
		{"document alone", `{"name":"Ann","age":12}`, `{"name":"Ann","age":12}`, true, signals.FromDefaults},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, url := startUpstream(t, remote.Capabilities{Logprobs: true}, Config{}, c.line)
			for name, d := range askedDialects {
				more := `, "signals": {"instruction": "compact"}`
				if c.schema {
					more += ", " + d.schema
				} else if name == "generate_json" {
					continue
				}
				t.Run(name, func(t *testing.T) {
					got := d.ask(t, url, "far", more)
					if strings.Contains(c.text, "```") {
						got.raw = "" // text that is no block is shown
					}
					got.check(t, c.text, c.from)
					if got.assessment["surprise"] == nil {
						t.Errorf("no surprise in %v", got.assessment)
					}
					got = d.stream(t, url, "far", more)
					if strings.Contains(c.text, "```") {
						got.raw = ""
					}
					got.check(t, c.text, c.from)
				})
			}
			for _, r := range u.requests() {
				if system := at(r, "messages", 0, "content"); at(r, "messages", 0, "role") != "system" || !strings.Contains(fmt.Sprint(system), signals.Instruction(signals.Compact, signals.Fenced, nil)) || r["logprobs"] != true {
					t.Errorf("the upstream was asked %v", r)
				}
			}
		})
	}
}

// TestSignalsWithoutRoom checks the warning if an upstream enforces a grammar,
// after which nothing can follow.
func TestSignalsWithoutRoom(t *testing.T) {
	u, url := startUpstream(t, remote.Capabilities{Engine: remote.VLLM}, Config{}, "42")
	_, _, got := post(t, url+"/generate", `{"prompt": "x", "signals": true, "regex": "[0-9]+"}`)
	if got["text"] != "42" || at(got, "signals", "source") != "defaults" || at(got, "assessment", "recommendation") != "verify_output" ||
		!strings.Contains(fmt.Sprint(got["warnings"]), "leaves no room for signals") || !strings.Contains(fmt.Sprint(got["warnings"]), "surprise is not measured") {
		t.Errorf("%v", got)
	}
	if text := fmt.Sprint(u.requests()); strings.Contains(text, signals.Info) {
		t.Errorf("it was asked for them all the same: %s", text)
	}
}

// TestSignalsBeside checks that, if an upstream enforces a schema, the document
// becomes a member of an object, beside the signals.
func TestSignalsBeside(t *testing.T) {
	const person = `{"name":"Ann","age":12}`
	for _, c := range []struct {
		name, line, text string
		from             signals.Source
	}{
		{"kept", `{"answer":` + person + `,"signals":` + noteText + `}`, person, signals.FromConstrained},
		{"with white space", " {\n \"answer\" : " + person + " ,\n \"signals\": " + noteText + "}\n", person, signals.FromConstrained},
		{"not kept", person, person, signals.FromDefaults},
		{"not kept, with a block", person + "\n" + noteBlock, person, signals.FromBlock},
		{"without signals", `{"answer":` + person + `}`, person, signals.FromDefaults},
		{"parsed", `!parsed {"answer":` + person + `,"signals":` + noteText + `}`, person, signals.FromConstrained},
	} {
		t.Run(c.name, func(t *testing.T) {
			u, url := startUpstream(t, remote.Capabilities{Engine: remote.OpenAI, JSONSchema: true, Logprobs: true}, Config{}, c.line)
			for name, d := range askedDialects {
				if name == "tgi" {
					continue // its streams have the tokens of the text
				}
				t.Run(name, func(t *testing.T) {
					got := d.ask(t, url, "far", `, "signals": true, `+d.schema)
					got.check(t, c.text, c.from)
					if got.receipt["validated"] != true || got.receipt["strategy"] != "structured_with_logprobs" {
						t.Errorf("receipt %v", got.receipt)
					}
					if c.name == "parsed" {
						return // a stream has no data
					}
					got = d.stream(t, url, "far", `, "signals": true, `+d.schema)
					got.check(t, c.text, c.from)
				})
			}
			for _, r := range u.requests() {
				if got := at(r, "response_format", "json_schema", "schema", "properties", "answer", "properties", "age", "maximum"); got != 150.0 || !strings.Contains(fmt.Sprint(at(r, "messages", 0, "content")), "member signals") {
					t.Errorf("the upstream was asked %v", r)
				}
			}
		})
	}
	// An answer that is no object is shown as it arrives.
	_, url := startUpstream(t, remote.Capabilities{Engine: remote.OpenAI, JSONSchema: true}, Config{}, `{"answer":"answer, \"signals\"","signals":`+noteText+`}`)
	_, events := postStream(t, url+"/generate_json", `{"prompt": "x", "schema": {"type": "string"}, "signals": true, "stream": true}`)
	text, pieces := "", 0
	for _, e := range events {
		if e.name == "token" {
			text += at(e.data, "text").(string)
			pieces++
		}
	}
	if last := events[len(events)-1]; text != `"answer, \"signals\""` || pieces < 3 || last.data["json"] != `answer, "signals"` || at(last.data, "signals", "confidence") != 0.9 {
		t.Errorf("%q in %d pieces, %v", text, pieces, last)
	}
	// With references, or with tokens requested, the document is not wrapped.
	for _, more := range []string{`, "schema": {"$ref": "#/$defs/x", "$defs": {"x": {"type": "integer"}}}`, `, "schema": {"type": "integer"}, "logprobs": true`} {
		u, url := startUpstream(t, remote.Capabilities{Engine: remote.OpenAI, JSONSchema: true, Logprobs: true}, Config{}, "12")
		_, _, got := post(t, url+"/generate_json", `{"prompt": "x", "signals": true`+more+`}`)
		if got["json"] != 12.0 || !strings.Contains(fmt.Sprint(got["warnings"]), "leaves no room for signals") || at(u.requests()[0], "response_format", "json_schema", "schema", "properties") != nil {
			t.Errorf("%s: %v", more, got)
		}
	}
}
