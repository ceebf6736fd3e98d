package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
)

const weatherCall = "<tool_call>\n" + `{"name": "weather", "arguments": {"days": 3, "unit": "C"}}` + "\n</tool_call>"

// TestToolsAuto checks that with tool_choice auto the text is free until a call begins, which then
// fits its schema.
func TestToolsAuto(t *testing.T) {
	for _, test := range []struct {
		reply, content string
		calls          int
		reason, more   string
	}{
		{"just words", "just words", 0, "stop", ""},
		{"words with <tool and <tool_call in them", "words with <tool and <tool_call in them", 0, "stop", ""},
		{weatherCall, "", 1, "tool_calls", ""},
		{"Let me see. " + weatherCall, "Let me see. ", 1, "tool_calls", ""},
		{weatherCall + "\n" + weatherCall, "", 2, "tool_calls", ""},
		{weatherCall + "\n" + weatherCall, "", 1, "tool_calls", `, "parallel_tool_calls": false`},
		{weatherCall, "", 1, "tool_calls", `, "tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "weather"}}]}}`},
		{`{"name":"Ann","age":5}`, `{"name":"Ann","age":5}`, 0, "stop", `, "response_format": {"type": "json_schema", "json_schema": {"name": "p", "schema": ` + personSchema + `}}`},
		{`{"name":"<tool_call>","age":5}`, `{"name":"<tool_call>","age":5}`, 0, "stop", `, "response_format": {"type": "json_schema", "json_schema": {"name": "p", "schema": ` + personSchema + `}}`},
		{weatherCall, "", 1, "tool_calls", `, "response_format": {"type": "json_schema", "json_schema": {"name": "p", "schema": ` + personSchema + `}}`},
		{"well, stop there", "well, ", 0, "stop", `, "stop": "stop"`},
	} {
		_, url := start(t, setup{next: scripted.SayText(loadVocab(t), test.reply)})
		body := strings.Replace(chatBody(weatherTools+test.more+`, "repeat_calls": true, "temperature": 0`), `"max_tokens": 60`, `"max_tokens": 200`, 1)
		status, _, got := post(t, url+"/v1/chat/completions", body)
		content, _ := at(got, "choices", 0, "message", "content").(string)
		calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
		if status != 200 || content != test.content || len(calls) != test.calls || at(got, "choices", 0, "finish_reason") != test.reason || at(got, "x_constraint", "validated") != true {
			t.Errorf("%q%s: %d %v", test.reply, test.more, status, got)
			continue
		}
		text, streamed := "", 0
		for _, c := range chatChunks(t, url, body[:len(body)-1]+`, "stream": true}`) {
			piece, _ := at(c, "choices", 0, "delta", "content").(string)
			text += piece
			if at(c, "choices", 0, "delta", "tool_calls", 0, "id") != nil {
				streamed++
			}
		}
		if text != test.content || streamed != test.calls {
			t.Errorf("%q%s: stream %q, %d calls", test.reply, test.more, text, streamed)
		}
	}
}

// TestToolsAutoRandom checks that a random model's text after a marker fits the schema.
func TestToolsAutoRandom(t *testing.T) {
	v := loadVocab(t)
	random := scripted.Random(3)
	_, url := start(t, setup{next: func(history []int32, logits []float32) {
		text := string(v.Decode(history))
		if !strings.Contains(text[strings.LastIndex(text, "assistant\n"):], "<tool_call>") {
			scripted.SayText(v, "so: <tool_call>")(history, logits)
			return
		}
		random(history, logits)
	}})
	for seed := range 20 {
		_, _, got := post(t, url+"/v1/chat/completions", chatBody(fmt.Sprintf(`%s, "seed": %d`, weatherTools, seed)))
		calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
		if len(calls) == 0 || at(got, "choices", 0, "message", "content") != "so: " || at(got, "x_constraint", "validated") != true {
			t.Fatalf("seed %d: %v", seed, got)
		}
		for _, c := range callsOf(calls) {
			if !checkWeather(c[0], c[1]) {
				t.Errorf("seed %d: call %v", seed, c)
			}
		}
	}
}

// TestReasoning checks that reasoning precedes the constrained answer, in one pass and within its
// own budget.
func TestReasoning(t *testing.T) {
	const answer = `{"name":"Ann","age":5}`
	_, url := start(t, setup{next: scripted.SayText(loadVocab(t), "<think>\nhmm, <b>well</think>\n\n"+answer)})
	const format = `"response_format": {"type": "json_schema", "json_schema": {"name": "p", "strict": true, "schema": ` + personSchema + `}}`
	for _, test := range []struct{ path, body, thought, content string }{
		{"/v1/chat/completions", chatBody(format + `, "reasoning": true, "temperature": 0`), "reasoning_content", "content"},
	} {
		status, _, got := post(t, url+test.path, test.body)
		message := at(got, "choices", 0, "message")
		if status != 200 || at(message, test.thought) != "hmm, <b>well" || at(message, test.content) != answer || at(got, "x_constraint", "validated") != true {
			t.Errorf("%d %v", status, got)
		}
	}
	status, _, got := post(t, url+"/generate_json", `{"prompt": "x", "max_tokens": 80, "temperature": 0, "reasoning": true, "schema": `+personSchema+`}`)
	if status != 200 || at(got, "json", "name") != "Ann" || at(got, "reasoning") != "hmm, <b>well" || at(got, "text") != answer || at(got, "fields", "/age", "confidence") == nil {
		t.Errorf("%d %v", status, got)
	}

	// Reasoning without end is stopped.
	_, url = start(t, setup{next: scripted.SayText(loadVocab(t), "<think>\n"+strings.Repeat("on and ", 500))})
	for _, body := range []string{`"reasoning": {"max_tokens": 20}, "max_tokens": 200`, `"reasoning": true, "max_tokens": 60`} {
		status, _, got = post(t, url+"/generate_json", `{"prompt": "x", "temperature": 0, `+body+`, "schema": `+personSchema+`}`)
		text, _ := got["text"].(string)
		if status != 200 || !json.Valid([]byte(text)) || at(got, "constraint", "validated") != true || !strings.HasPrefix(fmt.Sprint(got["reasoning"]), "on and on and") {
			t.Errorf("%s: %d %v", body, status, got)
		}
	}
	_, _, got = post(t, url+"/v1/messages", `{"model": "tiny", "max_tokens": 200, "temperature": 0, "thinking": {"type": "enabled", "budget_tokens": 20}, "messages": [{"role": "user", "content": "x"}],
		"output_config": {"format": {"type": "json_schema", "schema": `+personSchema+`}}}`)
	if at(got, "content", 0, "type") != "thinking" || at(got, "content", 1, "type") != "text" || !json.Valid([]byte(at(got, "content", 1, "text").(string))) {
		t.Errorf("%v", got)
	}
	thinking := templated(t, plain+"{% if x %}<think></think>{% endif %}")
	url = serve(t, thinking, scripted.SayText(thinking, "<think>\n"+strings.Repeat("on and ", 500)))
	_, _, got = post(t, url+"/api/chat", `{"model": "tiny", "stream": false, "think": true, "options": {"num_predict": 90, "temperature": 0, "repeat_penalty": 1}, "messages": [{"role": "user", "content": "x"}], "format": `+personSchema+`}`)
	if content, _ := at(got, "message", "content").(string); !json.Valid([]byte(content)) || at(got, "message", "thinking") == "" {
		t.Errorf("%v", got)
	}
}

// TestReasoningBudgets checks reasoning that was not requested: it is recognised in free text by
// its marks and, if the template opens it, before a constrained answer too. A budget ends each
// reasoning, with the given text, and so does a call.
func TestReasoningBudgets(t *testing.T) {
	long := strings.Repeat("on and ", 60)
	ask := func(url, more string) (reasoning, content string, got map[string]any) {
		status, _, got := post(t, url+"/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}],"max_tokens":400,"temperature":0`+more+`}`)
		if status != 200 {
			t.Fatalf("%d %v", status, got)
		}
		reasoning, _ = at(got, "choices", 0, "message", "reasoning_content").(string)
		content, _ = at(got, "choices", 0, "message", "content").(string)
		return reasoning, content, got
	}
	v := templated(t, "{% for m in messages %}{{ m.role }}: {{ m.content }}{% if m.role == 'assistant' %}<think>x</think>{% endif %}\n{% endfor %}assistant:")
	for _, asked := range []string{"", `,"reasoning":{"enabled":true}`} {
		// This model starts over after forced text.
		url := serve(t, v, scripted.SayText(v, "<think>"+long))
		reasoning, content, _ := ask(url, asked+`,"reasoning_budget_tokens":10,"reasoning_budget_message":" Enough!"`)
		if !strings.HasSuffix(reasoning, " Enough!") || strings.Count(reasoning, "Enough") != 1 || len(reasoning) > 100 || content == "" {
			t.Errorf("%s: %q, %q", asked, reasoning, content)
		}
		reasoning, content, _ = ask(url, asked+`,"reasoning_budget_tokens":10`)
		if len(reasoning) == 0 || len(reasoning) > 80 || content == "" {
			t.Errorf("%s without words: %q, %q", asked, reasoning, content)
		}
		url = serve(t, v, scripted.SayText(v, "<think>a</think>\n\nwell\n<think>"+long))
		reasoning, content, _ = ask(url, asked+`,"reasoning_budget_tokens":10,"reasoning_budget_message":" Enough!"`)
		if asked == "" && (!strings.HasPrefix(reasoning, "a") || !strings.HasSuffix(reasoning, " Enough!") || !strings.HasPrefix(content, "well")) || strings.Contains(content, "on and") {
			t.Errorf("%s, a second thought: %q, %q", asked, reasoning, content)
		}
		for thought := range strings.SplitSeq(reasoning, " Enough!") {
			if len(thought) > 60 {
				t.Errorf("%s: a thought of %q", asked, thought)
			}
		}
		// Streams give the same.
		_, _, text := send(t, "POST", url+"/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}],"max_tokens":400,"temperature":0,"stream":true,"reasoning_budget_tokens":10,"reasoning_budget_message":" Enough!"`+asked+`}`)
		streamed := ""
		for line := range strings.SplitSeq(text, "\n") {
			var event any
			if data, ok := strings.CutPrefix(line, "data: {"); ok && json.Unmarshal([]byte("{"+data), &event) == nil {
				part, _ := at(event, "choices", 0, "delta", "reasoning_content").(string)
				streamed += part
			}
		}
		if streamed != reasoning {
			t.Errorf("%s, as a stream: %q, not %q", asked, streamed, reasoning)
		}
	}
	for _, more := range []string{"", `,"reasoning":{"enabled":true}`, `,"tool_choice":"required"`, `,"tool_choice":"required","reasoning":{"enabled":true}`} {
		url := serve(t, v, scripted.SayText(v, "<think>hm <tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>"))
		_, _, got := ask(url, more+`,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{},"additionalProperties":false}}}]`)
		if at(got, "choices", 0, "message", "tool_calls", 0, "function", "name") != "f" {
			t.Errorf("%s: %v", more, got)
		}
	}
	status, _, got := post(t, serve(t, v, scripted.SayText(v, "x"))+"/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}],"reasoning_budget_message":"`+strings.Repeat("x", 1001)+`"}`)
	if status != 400 || at(got, "error", "param") != "reasoning_budget_message" {
		t.Errorf("%d %v", status, got)
	}
}

func TestReasoningUnasked(t *testing.T) {
	v := familyVocab(t, "qwen3")
	url := serve(t, v, scripted.SayText(v, "<think>\nhmm\n</think>\n\nhello"))
	for _, more := range []string{"", ", " + weatherTools} {
		_, _, got := post(t, url+"/v1/chat/completions", chatBody(`"temperature": 0`+more))
		if message := at(got, "choices", 0, "message"); at(message, "content") != "hello" || at(message, "reasoning_content") != "hmm\n" {
			t.Errorf("%v", got)
		}
	}
}

// TestStructuralTags checks free text with documents between tags, all of which is shown.
func TestStructuralTags(t *testing.T) {
	v := loadVocab(t)
	const tags = `{"type": "structural_tag", "triggers": ["<f=", "<p>"], "structures": [
		{"begin": "<f=a>", "schema": {"type": "object", "properties": {"x": {"type": "integer", "maximum": 9, "minimum": 0}}, "required": ["x"], "additionalProperties": false}, "end": "</f>"},
		{"begin": "<f=b>", "schema": {"type": "array", "items": {"type": "boolean"}, "maxItems": 2}, "end": "</f>"}, {"begin": "<p>", "schema": {"enum": [[1], [2]]}, "end": "."}]}`
	quoted, _ := json.Marshal(tags)
	for _, spelling := range []string{`"response_format": ` + tags, `"structured_outputs": {"structural_tag": ` + tags + `}`, `"structured_outputs": {"structural_tag": ` + string(quoted) + `}`} {
		for _, reply := range []string{"no tags, 1 <f or <p", `so <f=a>{"x":5}</f> and <f=b>[true]</f>, <p>[2].`, `<p>[1].<f=a>{"x":1}</f>`} {
			_, url := start(t, setup{next: sayAnyhow(v, reply, 2)})
			status, _, got := post(t, url+"/v1/chat/completions", strings.Replace(chatBody(spelling+`, "temperature": 0`), `"max_tokens": 60`, `"max_tokens": 200`, 1))
			if status != 200 || at(got, "choices", 0, "message", "content") != reply || at(got, "x_constraint", "validated") != true || at(got, "x_constraint", "type") != "structural_tag" {
				t.Errorf("%q: %d %v", reply, status, got)
			}
		}
	}
	random := scripted.Random(8)
	_, url := start(t, setup{next: func(history []int32, logits []float32) {
		text := string(v.Decode(history))
		if i := strings.LastIndex(text, "assistant\n"); len(text)-i < 20 || !strings.Contains(text[i:], "<f=") {
			sayAnyhow(v, "some words first <f=", 1)(history, logits)
			return
		}
		random(history, logits)
	}})
	for budget := 30; budget < 60; budget++ {
		status, _, got := post(t, url+"/v1/chat/completions", strings.Replace(chatBody(`"response_format": `+tags), `"max_tokens": 60`, fmt.Sprintf(`"max_tokens": %d`, budget), 1))
		if content, _ := at(got, "choices", 0, "message", "content").(string); status != 200 || at(got, "x_constraint", "validated") != true || !strings.Contains(content, "</f>") {
			t.Errorf("budget %d: %d %v", budget, status, got)
		}
	}
	if status, _, got := post(t, url+"/v1/chat/completions", chatBody(weatherTools+`, "response_format": `+tags)); status != 400 {
		t.Errorf("with tools: %d %v", status, got)
	}
}
