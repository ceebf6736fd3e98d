package server

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/agent/signals"
	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/remote"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine"
)

const (
	noteText  = `{"confidence":0.9,"difficulty":"hard","escalation":"verify","reason":"new"}`
	noteBlock = "```cortex-signals\n" + noteText + "\n```"
)

// An asked is a dialect: how it requests a text or a document, and where its answers hold the text.
type asked struct {
	path   string
	fields string // of a request: a prompt, and the rest of the body
	schema string // of a request: a person's schema
	text   []any  // where the text is in a whole answer
	bare   bool   // signals and assessment without the prefix x_
}

var askedDialects = map[string]asked{
	"generate":      {"/generate", `"messages": [{"role": "user", "content": "x"}]`, `"schema": ` + personSchema, []any{"text"}, true},
	"generate_json": {"/generate_json", `"messages": [{"role": "user", "content": "x"}]`, `"schema": ` + personSchema, []any{"text"}, true},
	"chat": {"/v1/chat/completions", `"model": "M", "messages": [{"role": "user", "content": "x"}]`,
		`"response_format": {"type": "json_schema", "json_schema": {"name": "p", "schema": ` + personSchema + `}}`, []any{"choices", 0, "message", "content"}, false},
	"completions": {"/v1/completions", `"model": "M", "prompt": "x", "prompt_schema": "always"`, `"guided_json": ` + personSchema, []any{"choices", 0, "text"}, false},
	"responses": {"/v1/responses", `"model": "M", "input": "x"`,
		`"text": {"format": {"type": "json_schema", "name": "p", "schema": ` + personSchema + `}}`, []any{"output", 0, "content", 0, "text"}, false},
	"messages": {"/v1/messages", `"model": "M", "messages": [{"role": "user", "content": "x"}]`,
		`"output_config": {"format": {"type": "json_schema", "schema": ` + personSchema + `}}`, []any{"content", 0, "text"}, false},
	"tgi":    {"/generate", `"inputs": "x"`, "SCHEMA", []any{"generated_text"}, false},
	"sglang": {"/generate", `"text": "x"`, "SCHEMA", []any{"text"}, false},
	"ollama": {"/api/chat", `"model": "M", "stream": false, "messages": [{"role": "user", "content": "x"}]`, `"format": ` + personSchema, []any{"message", "content"}, false},
}

// foreign reports whether a dialect lacks warnings and does not refuse unknown fields.
func (d asked) foreign() bool { return d.path == "/generate" && !d.bare }

// A told is the content of an answer, whole or streamed.
type told struct {
	text       string
	signals    map[string]any
	assessment map[string]any
	receipt    map[string]any
	raw        string // the whole answer
	last       int    // of a stream: number of events with signals
	foreign    bool   // a dialect without warnings
}

// ask requests a whole answer.
func (d asked) ask(t *testing.T, url, model, more string) told {
	t.Helper()
	status, _, got := post(t, url+d.path, "{"+strings.ReplaceAll(d.fields, `"M"`, `"`+model+`"`)+", "+d.budget(more)+"}")
	if status != 200 {
		t.Fatalf("%s: %d %v", d.path, status, got)
	}
	raw, _ := json.Marshal(got)
	out := told{raw: string(raw), foreign: d.foreign()}
	out.text, _ = at(got, d.text...).(string)
	out.take(d, got)
	return out
}

// budget adds a token budget under the dialect's name.
func (d asked) budget(more string) string {
	switch {
	case strings.Contains(d.fields, `"inputs"`), strings.Contains(d.fields, `"text"`):
		name := map[bool]string{true: "parameters", false: "sampling_params"}[strings.Contains(d.fields, `"inputs"`)]
		schema := ""
		if strings.Contains(more, "SCHEMA") {
			schema = map[bool]string{true: `, "grammar": {"type": "json", "value": ` + personSchema + `}`, false: `, "json_schema": ` + strconv.Quote(personSchema)}[name == "parameters"]
		}
		return `"` + name + `": {"max_new_tokens": 200, "temperature": 0` + schema + `}` + strings.Replace(more, ", SCHEMA", "", 1)
	}
	switch d.path {
	case "/v1/responses":
		return `"max_output_tokens": 200, "temperature": 0` + more
	case "/api/chat":
		return `"options": {"num_predict": 200, "temperature": 0}` + more
	}
	return `"max_tokens": 200, "temperature": 0` + more
}

func (o *told) take(d asked, from map[string]any) {
	x := "x_"
	if d.bare {
		x = ""
	}
	if s, ok := at(from, x+"signals").(map[string]any); ok {
		o.signals = s
		o.last++
	}
	if a, ok := at(from, x+"assessment").(map[string]any); ok {
		o.assessment = a
	}
	for _, name := range []string{"x_constraint", "constraint"} {
		if r, ok := from[name].(map[string]any); ok {
			o.receipt = r
		}
	}
}

// stream requests a stream and assembles it.
func (d asked) stream(t *testing.T, url, model, more string) (out told) {
	t.Helper()
	out.foreign = d.foreign()
	fields := strings.ReplaceAll(strings.Replace(d.fields, `"stream": false, `, "", 1), `"M"`, `"`+model+`"`)
	for _, line := range postLines(t, url+d.path, "{"+fields+", "+d.budget(more)+`, "stream": true}`) {
		line = strings.TrimPrefix(line, "data: ")
		if !strings.HasPrefix(line, "{") {
			continue
		}
		out.raw += line + "\n"
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		piece := ""
		switch d.path {
		case "/generate", "/generate_json":
			if token, ok := at(e, "token", "text").(string); ok { // TGI
				piece = token
			} else if e["meta_info"] != nil { // SGLang: the whole text so far
				out.text, piece = "", e["text"].(string)
			} else if e["finish_reason"] == nil && e["pointer"] == nil {
				piece, _ = e["text"].(string)
			}
		case "/v1/chat/completions":
			piece, _ = at(e, "choices", 0, "delta", "content").(string)
		case "/v1/completions":
			piece, _ = at(e, "choices", 0, "text").(string)
		case "/v1/responses":
			if e["type"] == "response.output_text.delta" {
				piece, _ = e["delta"].(string)
			}
			if r, ok := e["response"].(map[string]any); ok {
				e = r
			}
		case "/v1/messages":
			piece, _ = at(e, "delta", "text").(string)
		case "/api/chat":
			piece, _ = at(e, "message", "content").(string)
		}
		out.text += piece
		out.take(d, e)
	}
	return out
}

// check compares the content of an answer with the expected one.
func (o told) check(t *testing.T, text string, from signals.Source) {
	t.Helper()
	if o.text != text {
		t.Errorf("text %q, want %q", o.text, text)
	}
	if o.signals == nil || o.assessment == nil || o.last > 1 {
		t.Fatalf("signals %v, assessment %v, %d times in %s", o.signals, o.assessment, o.last, o.raw)
	}
	if o.signals["source"] != string(from) {
		t.Errorf("source %v, want %s", o.signals["source"], from)
	}
	if from != signals.FromDefaults && from != signals.FromKeywords && (o.signals["confidence"] != 0.9 || o.signals["difficulty"] != "hard" || o.signals["escalation"] != "verify") {
		t.Errorf("signals %v", o.signals)
	}
	if strings.Contains(o.raw, "what signals has are defaults") != (from == signals.FromDefaults) && o.raw != "" && !o.foreign {
		t.Errorf("warned of defaults where there are none, or not: %s", o.raw)
	}
	if o.assessment["recommendation"] == nil || o.assessment["reason"] == "" || o.assessment["components"] == nil {
		t.Errorf("assessment %v", o.assessment)
	}
	for _, hidden := range []string{signals.Info, `\"difficulty`, "\x60\x60\x60"} {
		if strings.Contains(o.raw, hidden) {
			t.Errorf("%s is shown: %s", hidden, o.raw)
		}
	}
}

// TestSignalsOfDocuments checks that signals follow masked documents in every dialect without changing them.
func TestSignalsOfDocuments(t *testing.T) {
	const person = `{"name":"Ann","age":12}`
	_, url := start(t, setup{reply: person + "\n" + noteText})
	_, plain := start(t, setup{reply: person})
	for name, d := range askedDialects {
		t.Run(name, func(t *testing.T) {
			without := d.ask(t, plain, "tiny", ", "+d.schema)
			for kind, got := range map[string]told{
				"whole": d.ask(t, url, "tiny", `, "signals": true, `+d.schema), "stream": d.stream(t, url, "tiny", `, "signals": true, `+d.schema),
			} {
				t.Run(kind, func(t *testing.T) {
					got.check(t, person, signals.FromConstrained)
					for _, key := range []string{"type", "hash", "enforced", "validated", "errors", "pressure", "budget_closed", "shortened", "forced_tokens", "tries"} {
						if fmt.Sprint(got.receipt[key]) != fmt.Sprint(without.receipt[key]) {
							t.Errorf("%s of the receipt is %v, without signals %v", key, got.receipt[key], without.receipt[key])
						}
					}
				})
			}
		})
	}
}

// TestSignalsOfText checks free text of a local model: the fence is looked for, and what follows it is masked.
func TestSignalsOfText(t *testing.T) {
	for _, c := range []struct {
		name, reply, text string
		from              signals.Source
	}{
		{"block", "It is Paris.\n\n" + noteBlock, "It is Paris.", signals.FromConstrained},
		{"block at once", noteBlock, "", signals.FromConstrained},
		{"none", "It is Paris, I am not sure.", "It is Paris, I am not sure.", signals.FromKeywords},
		{"nothing", "Two\n\nlines\n", "Two\n\nlines\n", signals.FromDefaults},
		{"object", "It is Paris.\n" + noteText, "It is Paris.", signals.FromObject},
		{"of tildes", "It is Paris.\n~~~cortex-signals\n" + noteText + "\n~~~", "It is Paris.", signals.FromBlock},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, url := start(t, setup{reply: c.reply})
			for name, d := range askedDialects {
				if name == "generate_json" {
					continue // always a document
				}
				t.Run(name, func(t *testing.T) {
					got := d.ask(t, url, "tiny", `, "signals": true`)
					got.check(t, c.text, c.from)
					got = d.stream(t, url, "tiny", `, "signals": true`)
					got.check(t, c.text, c.from)
				})
			}
		})
	}
}

// TestSignalsOfCalls checks that ratings of tools are requested, and read if calls end the text.
func TestSignalsOfCalls(t *testing.T) {
	const note = `{"confidence":0.9,"difficulty":"hard","escalation":"verify","tools":{"weather":0.4,"now":1},"reason":"new"}`
	const arguments = `{"days": 3, "unit": "C"}`
	for i, test := range forms {
		t.Run(fmt.Sprintf("%d %s", i, test.name), func(t *testing.T) {
			v := test.vocab(t)
			for seed := range uint64(3) {
				url := serve(t, v, sayAnyhow(v, strings.ReplaceAll(test.call, "{}", arguments)+"\n"+note, seed))
				body := `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 300, "reasoning_effort": "none", "signals": true, "tool_choice": "required", ` + weatherTools
				_, _, got := post(t, url+"/v1/chat/completions", body+`}`)
				calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
				if list := callsOf(calls); len(list) != 1 || list[0] != [2]string{"weather", arguments} || at(got, "choices", 0, "message", "content") != nil || at(got, "x_constraint", "validated") != true {
					t.Fatalf("seed %d: %v", seed, got)
				}
				if at(got, "x_signals", "tools", "weather") != 0.4 || at(got, "x_signals", "source") != "constrained" || at(got, "x_assessment", "components", 0, "value") != 0.4 {
					t.Errorf("seed %d: %v %v", seed, got["x_signals"], got["x_assessment"])
				}
				args := ""
				var last map[string]any
				for _, c := range chatChunks(t, url, body+`, "stream": true}`) {
					piece, _ := at(c, "choices", 0, "delta", "tool_calls", 0, "function", "arguments").(string)
					args += piece
					if content, _ := at(c, "choices", 0, "delta", "content").(string); content != "" {
						t.Errorf("seed %d: content %q", seed, content)
					}
					last = c
				}
				if args != arguments || at(last, "x_signals", "tools", "weather") != 0.4 {
					t.Errorf("seed %d: stream %q, %v", seed, args, last)
				}
			}
			// The same with a random model.
			for seed := range 4 {
				url := serve(t, v, scripted.Random(uint64(seed)))
				_, _, got := post(t, url+"/v1/chat/completions", fmt.Sprintf(`{"messages": [{"role": "user", "content": "x"}], "max_tokens": 400, "signals": true, "tool_choice": "required", "parallel_tool_calls": %t, `, seed%2 == 0)+weatherTools+`}`)
				calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
				if len(calls) == 0 || at(got, "x_constraint", "validated") != true || at(got, "x_signals", "source") != "constrained" || at(got, "x_signals", "tools", "weather") == nil {
					t.Errorf("random %d: %v", seed, got)
				}
			}
		})
	}
}

// TestSignalsOfForms checks that every family's texts are the same with and without signals, also with optional calls.
func TestSignalsOfForms(t *testing.T) {
	const note = `{"confidence":0.9,"difficulty":"hard","escalation":"verify","tools":{"weather":0.4,"now":1},"reason":"new"}`
	const arguments = `{"days": 3, "unit": "C"}`
	for i, test := range forms {
		t.Run(fmt.Sprintf("%d %s", i, test.name), func(t *testing.T) {
			v := test.vocab(t)
			reply := strings.ReplaceAll(test.reply, "{}", arguments)
			if test.calls > 0 {
				reply += "\n" + note
			} else {
				reply += "\n\n```cortex-signals\n" + noteText
			}
			url := serve(t, v, sayAnyhow(v, reply, 1))
			body := `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 500, "signals": true, "repeat_calls": true, ` + weatherTools
			_, _, got := post(t, url+"/v1/chat/completions", body+`}`)
			message := at(got, "choices", 0, "message")
			content, _ := at(message, "content").(string)
			thought, _ := at(message, "reasoning_content").(string)
			calls, _ := at(message, "tool_calls").([]any)
			if content != test.content || thought != test.thought || len(calls) != test.calls || at(got, "x_signals", "source") != "constrained" || at(got, "x_signals", "confidence") != 0.9 {
				t.Fatalf("%v", got)
			}
			text, reasoning := "", ""
			for _, c := range chatChunks(t, url, body+`, "stream": true}`) {
				piece, _ := at(c, "choices", 0, "delta", "content").(string)
				text += piece
				piece, _ = at(c, "choices", 0, "delta", "reasoning_content").(string)
				reasoning += piece
			}
			if text != test.content || reasoning != test.thought {
				t.Errorf("stream %q %q", text, reasoning)
			}
		})
	}
}

// TestSignalsOfGrammars checks the signals after grammars, expressions and choices, including those that could match
// signals too.
func TestSignalsOfGrammars(t *testing.T) {
	for _, c := range []struct{ field, text string }{
		{`"choice": ["yes", "no", "yes\nor no"]`, "yes"},
		{`"choice": ["yes", "no", "yes\nor no"]`, "yes\nor no"},
		{`"regex": "[0-9]+"`, "42"},
		{`"regex": "[a-z\\n ]*"`, "one\n two\n\nthree\n"},
		{`"regex": "[^x]*"`, "one\n{two}"},
		{`"grammar": "root ::= item+\nitem ::= \"- \" [^\\n]* \"\\n\""`, "- a\n- b\n"},
		{`"schema": {"type": "integer"}`, "123"},
		{`"schema": {"type": "string"}`, `"a\n{\"confidence\":1}"`},
		{`"schema": {"type": "object", "properties": {"confidence": {"type": "integer"}}, "additionalProperties": false}`, `{"confidence":7}`},
		{`"schema": {"const": [[1, {}]]}, "whitespace": "pretty"`, "[\n  [\n    1,\n    {}\n  ]\n]"},
		{`"schema": {"const": [[1, {}]]}, "whitespace": "flexible"`, "[ [1 ,{}]]"},
	} {
		_, url := start(t, setup{reply: c.text + "\n" + noteText})
		d := askedDialects["generate"]
		for kind, got := range map[string]told{"whole": d.ask(t, url, "tiny", `, "signals": true, "logprobs": true, `+c.field), "stream": d.stream(t, url, "tiny", `, "signals": true, "logprobs": true, `+c.field)} {
			if got.text != c.text || got.signals["source"] != "constrained" || got.signals["confidence"] != 0.9 || got.receipt["validated"] != true {
				t.Errorf("%s, %s: %q, want %q: %v %v", c.field, kind, got.text, c.text, got.signals, got.receipt)
			}
			if strings.Contains(got.raw, "difficulty\\") {
				t.Errorf("%s, %s: signals are shown: %s", c.field, kind, got.raw)
			}
		}
	}
}

// TestSignalsLogprobs checks that the reported tokens are those of the answer.
func TestSignalsLogprobs(t *testing.T) {
	for _, c := range []struct{ reply, fields, text string }{
		{`{"name":"Ann","age":12}` + "\n" + noteText, `"schema": ` + personSchema, `{"name":"Ann","age":12}`},
		{"It is Paris.\n\n" + noteBlock, `"seed": 1`, "It is Paris."},
		{"It is Paris.\nSo.\n", `"seed": 1`, "It is Paris.\nSo.\n"},
		{"It is Paris.\n" + noteText, `"seed": 1`, "It is Paris."},
	} {
		_, url := start(t, setup{reply: c.reply})
		body := `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 200, "signals": true, "logprobs": true, ` + c.fields
		_, _, got := post(t, url+"/generate", body+`}`)
		tokens := func(list any) (text string) {
			all, _ := list.([]any)
			for _, one := range all {
				text += at(one, "token").(string)
			}
			return text
		}
		if text := tokens(got["logprobs"]); text != c.text {
			t.Errorf("%s: tokens of %q", c.fields, text)
		}
		streamed := ""
		_, events := postStream(t, url+"/generate", body+`, "stream": true}`)
		for _, e := range events {
			streamed += tokens(e.data["logprobs"])
		}
		if streamed != c.text {
			t.Errorf("%s: streamed tokens of %q", c.fields, streamed)
		}
	}
}

// TestSignalsBudget checks that max_tokens applies to the answer.
func TestSignalsBudget(t *testing.T) {
	_, url := start(t, setup{reply: `{"name":"A very long name that takes all there is and then some more of it","age":12}`})
	_, plain := start(t, setup{reply: `{"name":"A very long name that takes all there is and then some more of it","age":12}`})
	room := len(loadVocab(t).TokenizeText(nil, []byte("\n"+`{"confidence":0,"difficulty":"easy","escalation":"none"}`)))
	for _, budget := range []int{10, 14, 20, 25} {
		body := fmt.Sprintf(`{"prompt": "x", "temperature": 0, "max_tokens": %d, "schema": %s`, budget, personSchema)
		_, _, with := post(t, url+"/generate_json", body+`, "signals": true}`)
		_, _, without := post(t, plain+"/generate_json", body+`}`)
		if with["text"] == nil || len(with["text"].(string)) < len(without["text"].(string))-2 || at(with, "signals", "source") != "constrained" || at(with, "constraint", "validated") != true {
			t.Errorf("%d tokens: %v, without signals %v", budget, with, without["text"])
		}
		if got := number(at(with, "usage", "completion_tokens")); got > float64(budget+room) {
			t.Errorf("%d tokens: %g were written", budget, got)
		}
		if at(with, "constraint", "budget_closed") != at(without, "constraint", "budget_closed") {
			t.Errorf("%d tokens: budget_closed %v, without signals %v", budget, at(with, "constraint", "budget_closed"), at(without, "constraint", "budget_closed"))
		}
	}
	// Too small for the document: the same as without signals.
	body := fmt.Sprintf(`{"prompt": "x", "max_tokens": 3, "schema": %s`, personSchema)
	_, _, with := post(t, url+"/generate_json", body+`, "signals": true}`)
	_, _, without := post(t, plain+"/generate_json", body+`}`)
	if at(with, "error", "code") != "budget_too_small" || at(with, "error", "minimum") != at(without, "error", "minimum") || at(with, "error", "message") != at(without, "error", "message") {
		t.Errorf("%v, without signals %v", with, without)
	}
	// The context is too small for both.
	prompt := strings.Repeat("x", 40)
	_, small := start(t, setup{reply: `{"name":"Ann","age":12}`, eng: engine.Config{Context: backend.ContextParams{Size: 64}}})
	for _, stream := range []string{"", `, "stream": true`} {
		body := fmt.Sprintf(`{"prompt": %q, "temperature": 0, "signals": true, "schema": %s%s}`, prompt, personSchema, stream)
		if stream != "" {
			_, events := postStream(t, small+"/generate_json", body)
			last := events[len(events)-1]
			if last.name != "done" || !strings.Contains(fmt.Sprint(last.data["warnings"]), "no room for signals after the answer") {
				t.Errorf("a small context: %v", last)
			}
			continue
		}
		_, _, got := post(t, small+"/generate_json", body)
		if at(got, "json", "age") == nil || at(got, "signals", "source") != "defaults" || !strings.Contains(fmt.Sprint(got["warnings"]), "no room for signals after the answer") {
			t.Errorf("a small context: %v", got)
		}
	}
	// Truncated, as requested: the document has no signals, and that is no error.
	_, _, got := post(t, url+"/generate", fmt.Sprintf(`{"prompt": "x", "temperature": 0, "max_tokens": 8, "on_budget": "truncate", "signals": true, "schema": %s}`, personSchema))
	if got["finish_reason"] != "length" || at(got, "signals", "source") != "defaults" || at(got, "usage", "completion_tokens") != 8.0 {
		t.Errorf("truncated: %v", got)
	}
}

// TestSignalsSamples checks that samples are generated beside the answer, compared, and counted.
func TestSignalsSamples(t *testing.T) {
	_, url := start(t, setup{})
	body := `{"prompt": "x", "max_tokens": 40, "seed": 7, "schema": {"type": "object", "properties": {"a": {"enum": ["x", "y", "z"]}, "b": {"const": 1}}, "required": ["a", "b"], "additionalProperties": false}`
	_, _, one := post(t, url+"/generate_json", body+`, "signals": true}`)
	status, _, got := post(t, url+"/generate_json", body+`, "signals": {"samples": 5}}`)
	if status != 200 || got["text"] != one["text"] || got["choices"] != nil || at(one, "assessment", "agreement") != nil {
		t.Fatalf("%d %v, alone %v", status, got, one)
	}
	agreement, ok := at(got, "assessment", "agreement").(float64)
	if !ok || agreement < 0.5 || agreement > 1 { // b is always the same
		t.Errorf("agreement %v", at(got, "assessment"))
	}
	if number(at(got, "usage", "completion_tokens")) < 3*number(at(one, "usage", "completion_tokens")) {
		t.Errorf("usage %v, of one text %v", got["usage"], one["usage"])
	}
	// With n, the texts are the samples.
	_, _, got = post(t, url+"/generate_json", body+`, "n": 3, "signals": true}`)
	for i := range 3 {
		if at(got, "choices", i, "assessment", "agreement") == nil || at(got, "choices", i, "assessment", "agreement") != at(got, "assessment", "agreement") {
			t.Errorf("choice %d: %v", i, at(got, "choices", i, "assessment"))
		}
	}
	_, _, chatted := post(t, url+"/v1/chat/completions", chatBody(`"n": 2, "signals": true`))
	if at(chatted, "x_assessment", "agreement") == nil || at(chatted, "choices", 1, "x_assessment", "agreement") == nil || at(chatted, "choices", 0, "x_assessment") != nil {
		t.Errorf("%v", chatted)
	}
	// In a stream of several texts, agreement is unknown, which a warning reports.
	_, events := postStream(t, url+"/generate_json", body+`, "n": 2, "stream": true, "signals": true}`)
	if last := events[len(events)-1]; at(last.data, "assessment", "recommendation") == nil || !strings.Contains(fmt.Sprint(last.data["warnings"]), "how far the texts agree") {
		t.Errorf("%v", last)
	}
	// Upstreams; a sample that fails is left out.
	u, url := startUpstream(t, remote.Capabilities{}, Config{}, good)
	_, _, got = post(t, url+"/generate_json", `{"prompt": "x", "schema": `+personSchema+`, "temperature": 1, "signals": {"samples": 3}}`)
	if at(got, "assessment", "agreement") != 1.0 || at(got, "usage", "completion_tokens") != 15.0 || len(u.requests()) != 3 {
		t.Errorf("%d requests, %v", len(u.requests()), got)
	}
	_, url = startUpstream(t, remote.Capabilities{}, Config{}, broken, good)
	status, _, got = post(t, url+"/generate_json", `{"prompt": "x", "schema": `+personSchema+`, "temperature": 1, "retry_max": 0, "signals": {"samples": 3}}`)
	if status == 200 && (at(got, "assessment", "agreement") != 1.0 || !strings.Contains(fmt.Sprint(got["warnings"]), "is left out")) || status != 200 && at(got, "error", "code") != "validation_failed" {
		t.Errorf("%d %v", status, got)
	}
}

func TestSignalsRefused(t *testing.T) {
	_, url := start(t, setup{reply: "x"})
	for fields, want := range map[string]string{
		`"signals": 1`:                                "invalid_value signals",
		`"signals": "full"`:                           "invalid_value signals",
		`"signals": []`:                               "invalid_value signals",
		`"signals": {"instruction": "short"}`:         "invalid_value signals.instruction",
		`"signals": {"samples": 0}`:                   "invalid_value signals.samples",
		`"signals": {"samples": 17}`:                  "invalid_value signals.samples",
		`"signals": {"samples": 1.5}`:                 "invalid_value signals.samples",
		`"signals": {"sample": 2}`:                    "unknown_field signals.sample",
		`"signals": {"samples": 2}, "n": 2`:           "invalid_value signals.samples",
		`"signals": {"samples": 2}, "stream": true`:   "not_offered signals.samples",
		`"signals": {"samples": 2}, "temperature": 0`: "invalid_value signals.samples",
		`"signals": {"weights": 3}`:                   "invalid_json signals.weights",
		`"signals": {"weights": {"own": "much"}}`:     "invalid_value signals.weights.own",
		`"signals": {"weights": {"own": -1}}`:         "invalid_value signals.weights",
		`"signals": {"weights": {"ovn": 1}}`:          "unknown_field signals.weights.ovn",
		`"signals": {"weights": {"own": 0, "population": 0, "calibration": 0, "surprise": 0}}`: "invalid_value signals.weights",
	} {
		for _, path := range []string{"/generate", "/v1/chat/completions"} {
			status, _, got := post(t, url+path, `{"messages": [{"role": "user", "content": "x"}], "max_tokens": 3, `+fields+`}`)
			if code := fmt.Sprint(at(got, "error", "code"), " ", at(got, "error", "param")); status != 400 || code != want {
				t.Errorf("%s: %d %s, want %s: %v", fields, status, code, want, got)
			}
		}
	}
	for _, fields := range []string{`"signals": false`, `"signals": null`} {
		status, _, got := post(t, url+"/generate", `{"prompt": "x", "max_tokens": 3, `+fields+`}`)
		if status != 200 || got["signals"] != nil || got["assessment"] != nil {
			t.Errorf("%s: %d %v", fields, status, got)
		}
	}
}

// TestSignalsAssessed checks that weights and calibration count, and that assessments are kept.
func TestSignalsAssessed(t *testing.T) {
	srv, url := start(t, setup{reply: "12\n" + noteText, cfg: Config{Feedback: t.TempDir() + "/f"}})
	if err := srv.OpenFeedback(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.CloseFeedback() })
	const body = `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "schema": {"const": 12}, `
	_, _, got := post(t, url+"/generate", body+`"signals": {"weights": {"surprise": 0}}}`)
	if a := at(got, "assessment"); at(a, "confidence") != 0.6885 || len(at(a, "components").([]any)) != 1 { // 0.9 × 0.85 × 0.9
		t.Errorf("%v", a)
	}
	id, _ := at(got, "assessment", "id").(string)
	status, _, now := post(t, url+"/feedback", fmt.Sprintf(`{"id": %q, "success": false}`, id))
	if status != 200 || now["mean_confidence"] != 0.9 || now["expected_calibration_error"] != 0.9 || now["model"] != "tiny" {
		t.Errorf("%q: %d %v", id, status, now)
	}
	metrics := metricsOf(t, url)
	for _, want := range []string{`stencil_assessments_total{recommendation="verify_output"} 1`, `stencil_signals_total{source="constrained"} 1`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
}
