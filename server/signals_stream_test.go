package server

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/agent/signals"
	"github.com/stencil-json/stencil/backend/scripted"
)

// TestSignalsElsewhere checks that texts of other kinds are the same with and
// without signals, whole and streamed.
func TestSignalsElsewhere(t *testing.T) {
	const person = `{"name":"Ann","age":12}`
	const ask = `"model": "tiny", "messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 200, "signals": true`
	tags := `, "response_format": {"type": "structural_tag", "structures": [{"begin": "<p>", "schema": ` + personSchema + `, "end": "</p>"}], "triggers": ["<p>"]}`
	for _, c := range []struct {
		name, reply, fields, text, thought string
		from                               signals.Source
	}{
		{"without masks", person + "\n" + noteBlock, `, "response_format": {"type": "json_schema", "json_schema": {"schema": ` + personSchema + `}}`, person, "", signals.FromConstrained},
		{"tags", "Look: <p>" + person + "</p>.\n\n" + noteBlock, tags, "Look: <p>" + person + "</p>.", "", signals.FromConstrained},
		{"tags alone", "Look: <p>" + person + "</p>", tags, "Look: <p>" + person + "</p>", "", signals.FromDefaults},
		{"thoughts", "<think>\nhm, cortex-signals</think>\n\nIt is so.\n" + noteBlock, `, "reasoning": true`, "It is so.", "hm, cortex-signals", signals.FromConstrained},
		{"thoughts and a document", "<think>\nhm</think>\n\n" + person + "\n" + noteText, `, "reasoning": true, "response_format": {"type": "json_schema", "json_schema": {"schema": ` + personSchema + `}}`, person, "hm", signals.FromConstrained},
		{"an answer that has begun", "It is so.\n" + noteBlock, `, "continue_final_message": true, "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "Well. "}]`, "It is so.", "", signals.FromBlock},
		{"a stop string", "It is so. Stop.\n" + noteBlock, `, "stop": ["Stop"]`, "It is so. ", "", signals.FromDefaults},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, url := start(t, setup{reply: c.reply})
			body := "{" + ask + c.fields + "}"
			if strings.Contains(c.fields, `"messages"`) {
				body = strings.Replace(body, `"messages": [{"role": "user", "content": "x"}], `, "", 1)
			}
			_, _, got := post(t, url+"/v1/chat/completions", body)
			content, _ := at(got, "choices", 0, "message", "content").(string)
			thought, _ := at(got, "choices", 0, "message", "reasoning_content").(string)
			if content != c.text || thought != c.thought || at(got, "x_signals", "source") != string(c.from) || at(got, "x_assessment") == nil {
				t.Errorf("%q %q: %v", content, thought, got)
			}
			text, reasoning := "", ""
			var last map[string]any
			for _, one := range chatChunks(t, url, strings.TrimSuffix(body, "}")+`, "stream": true}`) {
				piece, _ := at(one, "choices", 0, "delta", "content").(string)
				text += piece
				piece, _ = at(one, "choices", 0, "delta", "reasoning_content").(string)
				reasoning += piece
				last = one
			}
			if text != c.text || reasoning != c.thought || at(last, "x_signals", "source") != string(c.from) {
				t.Errorf("stream %q %q: %v", text, reasoning, last)
			}
		})
	}
	// Generated freely and validated afterwards.
	_, url := start(t, setup{reply: person + "\n" + noteBlock})
	_, _, got := post(t, url+"/generate_json", `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 200, "signals": true, "constrained_decoding": false, "schema": `+personSchema+`}`)
	if got["text"] != person || at(got, "json", "age") != 12.0 || at(got, "constraint", "validated") != true || at(got, "signals", "source") != "constrained" {
		t.Errorf("without masks: %v", got)
	}
	// Too many tools for a rating of each.
	var tools []string
	for i := range 17 {
		tools = append(tools, fmt.Sprintf(`{"type": "function", "function": {"name": "f%d", "parameters": {"type": "object"}}}`, i))
	}
	_, other := start(t, setup{})
	_, _, got = post(t, other+"/v1/chat/completions", chatBody(`"signals": true, "tool_choice": "required", "tools": [`+strings.Join(tools, ",")+`]`))
	if at(got, "x_signals", "source") != "constrained" || at(got, "x_signals", "tools") != nil || !strings.Contains(fmt.Sprint(got["warnings"]), "17 tools") {
		t.Errorf("many tools: %v", got)
	}
	// Each of several prompts has signals of its own.
	_, _, got = post(t, url+"/v1/completions", `{"model": "tiny", "prompt": ["x", "y"], "temperature": 0, "max_tokens": 200, "signals": true, "guided_json": `+personSchema+`}`)
	if at(got, "x_signals", "source") != "constrained" || at(got, "choices", 1, "x_signals", "source") != "constrained" || at(got, "choices", 0, "x_signals") != nil {
		t.Errorf("two prompts: %v", got)
	}
}

// TestSignalsAtRandom checks, for random models and budgets, that constrained text
// and its signals fit, and that a stream gives the same as a whole answer.
func TestSignalsAtRandom(t *testing.T) {
	kinds := []string{
		`"schema": ` + personSchema, `"schema": {"type": "number"}`, `"schema": {}`, `"schema": {}, "whitespace": "flexible"`, `"schema": {}, "whitespace": "pretty"`,
		`"schema": {"type": "object", "properties": {"confidence": {"type": "number"}, "difficulty": {"type": "string"}}}, "property_order": "any"`,
		`"regex": "[a-z ]*"`, `"regex": "[^x]{0,9}"`, `"choice": ["a", "ab", "a\n", "a\n{"]`, `"grammar": "root ::= (\"- \" [^\\n]* \"\\n\")+"`,
	}
	r := rand.New(rand.NewPCG(11, 12))
	_, url := start(t, setup{})
	for i := range 150 {
		kind := kinds[i%len(kinds)]
		budget := 1 + r.IntN(60)
		body := fmt.Sprintf(`{"prompt": "x", "seed": %d, "temperature": 1.2, "max_tokens": %d, "signals": true, %s`, i, budget, kind)
		status, _, got := post(t, url+"/generate", body+"}")
		if status == 400 && at(got, "error", "code") == "budget_too_small" {
			_, _, plain := post(t, url+"/generate", strings.Replace(body, `"signals": true, `, "", 1)+"}")
			if fmt.Sprint(plain["error"]) != fmt.Sprint(got["error"]) {
				t.Errorf("%s: %v, without signals %v", body, got["error"], plain)
			}
			continue
		}
		if status != 200 || at(got, "constraint", "validated") != true || at(got, "signals", "source") != "constrained" || at(got, "finish_reason") != "stop" {
			t.Fatalf("%s: %d %v", body, status, got)
		}
		_, events := postStream(t, url+"/generate", body+`, "stream": true}`)
		text := ""
		for _, e := range events {
			if e.name == "token" {
				text += at(e.data, "text").(string)
				if e.data["text"] == "" {
					t.Errorf("%s: an event without text", body)
				}
			}
		}
		last := events[len(events)-1]
		if last.name != "done" || text != got["text"] || last.data["text"] != got["text"] || fmt.Sprint(last.data["signals"]) != fmt.Sprint(got["signals"]) {
			t.Errorf("%s: stream %q, %v, whole %v", body, text, last, got)
		}
	}
}

// TestSignalsOfEither checks that signals follow an answer that may be a document
// or calls.
func TestSignalsOfEither(t *testing.T) {
	const note = `{"confidence":0.9,"difficulty":"hard","escalation":"verify","tools":{"weather":0.4,"now":1},"reason":"new"}`
	const person = `{"name":"Ann","age":12}`
	format := `, "response_format": {"type": "json_schema", "json_schema": {"name": "p", "schema": ` + personSchema + `}}, ` + weatherTools
	for i, test := range forms {
		t.Run(fmt.Sprintf("%d %s", i, test.name), func(t *testing.T) {
			v := test.vocab(t)
			call := strings.ReplaceAll(test.call, "{}", `{"days": 3, "unit": "C"}`)
			document := person
			if test.name == "harmony" {
				document = "<|channel|>final<|message|>" + person
			}
			body := `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 300, "reasoning_effort": "none", "prompt_schema": "always", "signals": true` + format
			for reply, want := range map[string]string{document + "\n" + noteText: person, call + "\n" + note: ""} {
				url := serve(t, v, sayAnyhow(v, reply, 2))
				_, _, got := post(t, url+"/v1/chat/completions", body+"}")
				content, _ := at(got, "choices", 0, "message", "content").(string)
				calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
				if content != want || (len(calls) == 1) == (want != "") || at(got, "x_signals", "source") != "constrained" || at(got, "x_signals", "confidence") != 0.9 ||
					(at(got, "x_signals", "tools", "weather") == 0.4) == (want != "") || at(got, "x_constraint", "validated") != true {
					t.Errorf("%q: %v", reply, got)
				}
				text := ""
				for _, c := range chatChunks(t, url, body+`, "stream": true}`) {
					piece, _ := at(c, "choices", 0, "delta", "content").(string)
					text += piece
				}
				if text != want {
					t.Errorf("%q: stream %q", reply, text)
				}
			}
			for seed := range 3 {
				url := serve(t, v, scripted.Random(uint64(seed)))
				_, _, got := post(t, url+"/v1/chat/completions", strings.Replace(body, `"temperature": 0`, fmt.Sprintf(`"seed": %d`, seed), 1)+"}")
				if at(got, "x_constraint", "validated") != true || at(got, "x_signals", "source") != "constrained" {
					t.Errorf("random %d: %v", seed, got)
				}
			}
		})
	}
}
