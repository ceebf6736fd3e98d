package server

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/vocab"
)

// sayRecast returns a model that writes reply, a call in another model's form, and then, once it reads that call as the
// start of a list, the text list.
func sayRecast(v *vocab.Vocab, reply, list string, seed uint64) scripted.Func {
	before, after := sayAnyhow(v, reply, seed), sayAnyhow(v, list, seed)
	return func(history []int32, logits []float32) {
		text := named(v, history)
		if answer := text[strings.LastIndex(text, "assistant\n"):]; strings.Contains(answer, "[\n{") {
			after(history, logits)
			return
		}
		before(history, logits)
	}
}

// TestForeignCalls checks that calls in other models' forms are calls, from the point where only a call can follow, and
// that other text stays unchanged to the last byte.
func TestForeignCalls(t *testing.T) {
	const arguments = `{"days": 3, "unit": "C"}`
	v := familyVocab(t, "qwen25")
	for _, c := range []struct {
		reply   string
		calls   int
		content string
		form    string
	}{
		{"```json\n{\"name\": \"weather\", \"arguments\": {}}\n```", 1, "", "json_block"},
		{"```json\n{\n  \"name\": \"weather\",\n  \"arguments\": {}\n}\n```", 1, "", "json_block"},
		{`{"name": "weather", "arguments": {}}`, 1, "", "json"},
		{" {\"function\": \"weather\", \"parameters\":\n{}}", 1, "", "json"},
		{`[{"name": "weather", "arguments": {}}, {"name": "now", "arguments": {}}]`, 2, "", "json"},
		{`{"type": "function", "function": {"name": "weather", "parameters": {}}}`, 1, "", "json"},
		{"Sure, here it is:\n```json\n{\"name\": \"weather\", \"arguments\": {}}\n```", 1, "Sure, here it is:\n", "json_block"},
		{"```json\n{\"name\": \"weather\", \"arguments\": {}}\n{\"name\": \"now\", \"arguments\": {}}\n```", 2, "", "json_block"},
		{"```json\n{\"name\": \"weather\", \"arguments\": {}}\n```\n```json\n{\"name\": \"now\", \"arguments\": {}}\n```", 2, "", "json_block"},
		{"<function_call>{\"name\": \"weather\", \"arguments\": {}}", 1, "", "json_block"},
		{"functions.weather({})", 1, "", "function"},
		{"<function=weather>{}</function>", 1, "", "tag"},
		{"I look.\n<function=weather>\n{}\n</function>", 1, "I look.\n", "tag"},
		{"```json\r\n{\"name\": \"weather\", \"arguments\": {}}\n```", 1, "", "json_block"},
		{"``` json\n{\"name\": \"weather\", \"arguments\": {}}\n```", 1, "", "json_block"},
		{"<tool_call>\n{\"name\": \"weather\", \"arguments\": {}}\n</tool_call>", 1, "", ""},
		// As in Python.
		{`[weather(days=3, unit="C")]`, 1, "", "python"},
		{`[weather(days=3, unit="C"), now()]`, 2, "", "python"},
		{`[weather(unit="C", days=3)]`, 1, "", "python"},
		{`[now(), weather(days=3, unit="C")]`, 2, "", "python"},
		{`weather(days=3, unit="C")`, 1, "", "python"},
		{"weather(\n    days=3,\n    unit=\"C\",\n)\nnow()", 2, "", "python"},
		{"<|python_start|>[weather(days=3, unit=\"C\"), now()]<|python_end|>", 2, "", "python"},
		{"<|tool_call_start|>[weather(days=3, unit=\"C\")]<|tool_call_end|>", 1, "", "python"},
		{"<|python_tag|>weather.call(days=3, unit=\"C\")", 1, "", "python"},
		{"I look.\n```tool_code\nweather(days=3, unit=\"C\")\n```", 1, "I look.\n", "python"},
		{"<|tool_call_start|>[now()]<|tool_call_end|>", -1, "", "python"},
		{"[now()]", -1, "", "python"},
		// Arguments in tags.
		{"<invoke name=\"weather\">\n<parameter name=\"days\">3</parameter>\n<parameter name=\"unit\">C</parameter>\n</invoke>", 1, "", "tag"},
		{"<function_calls>\n<invoke name=\"weather\">\n<parameter name=\"days\">3</parameter>\n<parameter name=\"unit\">C</parameter>\n</invoke>\n<invoke name=\"now\">\n</invoke>\n</function_calls>", 2, "", "tag"},
		{"I look.\n<minimax:tool_call>\n<invoke name=\"weather\">\n<parameter name=\"days\">3</parameter>\n<parameter name=\"unit\">C</parameter>\n</invoke>\n</minimax:tool_call>", 1, "I look.\n", "tag"},
		{"<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"weather\">\n<｜DSML｜parameter name=\"days\" string=\"false\">3</｜DSML｜parameter>\n<｜DSML｜parameter name=\"unit\" string=\"true\">C</｜DSML｜parameter>\n</｜DSML｜invoke>\n<｜DSML｜invoke name=\"now\">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>", 2, "", "tag"},
		{"<function=weather>\n<parameter=days>\n3\n</parameter>\n<parameter=unit>\nC\n</parameter>\n</function>\n<function=now>\n</function>", 2, "", "tag"},
		{"<function=weather>{}</function>\n<function=now>\n</function>", 2, "", "tag"},
		// A name in front of JSON.
		{"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n{ }\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>", 2, "", "deepseek"},
		{"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>weather<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁call▁begin｜>now<｜tool▁sep｜>{ }<｜tool▁call▁end｜><｜tool▁calls▁end｜>", 2, "", "deepseek"},
		{"[TOOL_CALLS]weather[ARGS]{}[TOOL_CALLS]now[ARGS]{ }", 2, "", "mistral"},
		{"[TOOL_CALLS][{\"name\": \"weather\", \"arguments\": {}}, {\"name\": \"now\", \"arguments\": {}}]", 2, "", "json_block"},
		{"[TOOL_CALLS] [{\"name\": \"weather\", \"arguments\": {}}]", 1, "", "json_block"},
		{"<|python_tag|>{\"name\": \"weather\", \"parameters\": {}}", 1, "", "json_block"},
		// What follows and is no call ends the answer: nothing is invented.
		{`[{"name": "weather", "arguments": {}}, {"name": "wether", "arguments": {"days": 4}}]`, 1, "", "json"},
		{`[{"name": "weather", "arguments": {}}, {"city": "Bern"}]`, 1, "", "json"},
		{"```json\n{\"name\": \"weather\", \"arguments\": {}}\n{\"name\": \"wether\", \"arguments\": {}}\n```", 1, "", "json_block"},
		{`[weather(days=3, unit="C"), wether(days=4)]`, 1, "", "python"},
		{"<invoke name=\"weather\">\n<parameter name=\"days\">3</parameter>\n<parameter name=\"unit\">C</parameter>\n</invoke>\n<invoke name=\"wether\">\n</invoke>", 1, "", "tag"},
		{"[TOOL_CALLS]weather[ARGS]{}[TOOL_CALLS]wether[ARGS]{}", 1, "", "mistral"},
		// None of these is a call.
		{"```json\n{\"name\": \"wether\", \"arguments\": {}}\n```", 0, "=", ""},
		{"```json\n{\"name\": \"weather\", \"description\": \"d\"}\n```", 0, "=", ""},
		{"```json\n{\"name\": \"weather\"}\n```", 0, "=", ""},
		{"Write {\"name\": \"weather\", \"arguments\": {}} to call it.", 0, "=", ""},
		{"In JSON:\n{\"name\": \"weather\", \"arguments\": {}}", 0, "=", ""},
		{"```python\nweather(3)\n```", 0, "=", ""},
		{"<function=wether>{}</function>", 0, "=", ""},
		{"Write <function=weather>{}</function> for that.", 0, "=", ""},
		{"```json\n{\"city\": \"weather\"}\n```\n", 0, "=", ""},
		{`weather(days=3, unit="C") returns the weather of three days.`, 0, "=", ""},
		{`weather(days=3, unit="C"), as you can see, has two arguments.`, 0, "=", ""},
		{`[weather(days=3, unit="C")] is a list of one call.`, 0, "=", ""},
		{"now() returns the time.", 0, "=", ""},
		{`[wether(days=3), weather(days=3)]`, 0, "=", ""},
		{"In Python:\n[weather(days=3), now()]", 0, "=", ""},
		{"<invoke name=\"wether\">\n</invoke>", 0, "=", ""},
		{"Write <invoke name=\"weather\"> for that.", 0, "=", ""},
		{"[TOOL_CALLS]wether[ARGS]{}", 0, "=", ""},
		{"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>wether<｜tool▁sep｜>{}", 0, "=", ""},
	} {
		reply := strings.ReplaceAll(c.reply, "{}", arguments)
		reply = strings.ReplaceAll(reply, `"now", "arguments": `+arguments, `"now", "arguments": {}`)
		content := strings.Replace(c.content, "=", reply, 1)
		list := c.content + "[\n{\"name\": \"weather\", \"arguments\": " + arguments + "}"
		first := "weather"
		if c.calls < 0 || strings.HasPrefix(reply, "[now") {
			first = "now"
		}
		c.calls = max(c.calls, -c.calls)
		if c.calls > 1 {
			list += ",\n{\"name\": \"now\", \"arguments\": {}}"
		}
		list += "\n]"
		for seed := range uint64(2) {
			url := serve(t, v, sayRecast(v, reply, list, seed))
			body := `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 300, "call_confidence": 0, ` + weatherTools
			_, _, got := post(t, url+"/v1/chat/completions", body+`}`)
			message := at(got, "choices", 0, "message")
			text, _ := at(message, "content").(string)
			calls, _ := at(message, "tool_calls").([]any)
			form, _ := at(got, "x_constraint", "tool_form").(string)
			finish := "stop"
			if c.calls > 0 {
				finish = "tool_calls"
			}
			if len(calls) != c.calls || text != content || form != c.form || at(got, "choices", 0, "finish_reason") != finish || at(got, "x_constraint", "validated") != true {
				t.Errorf("%q: %d calls, content %q, form %q: %v", reply, len(calls), text, form, got)
				continue
			}
			for i, call := range callsOf(calls) {
				if first == "now" {
					i = 1 - i
				}
				if i == 0 && (call[0] != "weather" || call[1][0] != '{' || sameJSON(call[1]) != sameJSON(arguments)) || i == 1 && call[0] != "now" {
					t.Errorf("%q: call %v", reply, call)
				}
			}
			// Streams give the same.
			streamed, begun := "", 0
			for _, chunk := range chatChunks(t, url, body+`, "stream": true}`) {
				piece, _ := at(chunk, "choices", 0, "delta", "content").(string)
				streamed += piece
				if at(chunk, "choices", 0, "delta", "tool_calls", 0, "id") != nil {
					begun++
				}
			}
			if streamed != content || begun != c.calls {
				t.Errorf("%q: stream %q, %d calls", reply, streamed, begun)
			}
			if c.form == "" {
				continue
			}
			_, _, got = post(t, url+"/v1/chat/completions", body+`, "tool_forms": "own"}`)
			if text, _ := at(got, "choices", 0, "message", "content").(string); text != reply || at(got, "choices", 0, "message", "tool_calls") != nil {
				t.Errorf("%q: own forms alone: %v", reply, got)
			}
		}
	}
}

// TestCallsEnd checks that a call that repeats an earlier one is dropped and ends the answer, and that the last allowed
// call ends it too.
func TestCallsEnd(t *testing.T) {
	v := familyVocab(t, "qwen25")
	call := func(arguments string) string { // the line break leads to the next call
		return "<tool_call>\n{\"name\": \"weather\", \"arguments\": " + arguments + "}\n</tool_call>\n"
	}
	one, two := call(`{"days": 3, "unit": "C"}`), call(`{"days": 4, "unit": "C"}`)
	for _, c := range []struct {
		reply, fields string
		calls         int
	}{
		{one + one + two, ``, 1},
		{one + two + one + two, ``, 2},
		{one + one + two, `, "repeat_calls": true`, 3},
		{one + two + call(`{"days": 5, "unit": "F"}`), `, "max_tool_calls": 2`, 2},
		{one + two + one, `, "max_tool_calls": 1`, 1},
	} {
		for _, choice := range []string{"auto", "required"} {
			url := serve(t, v, sayAnyhow(v, strings.TrimSpace(c.reply), 3))
			body := fmt.Sprintf(`{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 400, "tool_choice": %q%s, `, choice, c.fields) + weatherTools
			_, _, got := post(t, url+"/v1/chat/completions", body+`}`)
			calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
			if len(calls) != c.calls || at(got, "choices", 0, "finish_reason") != "tool_calls" {
				t.Errorf("%s %s%s: %v", c.reply, choice, c.fields, got)
			}
			begun, ended := 0, ""
			for _, chunk := range chatChunks(t, url, body+`, "stream": true}`) {
				if at(chunk, "choices", 0, "delta", "tool_calls", 0, "id") != nil {
					begun++
				}
				if finish, ok := at(chunk, "choices", 0, "finish_reason").(string); ok {
					ended = finish
				}
			}
			if begun != c.calls || ended != "tool_calls" {
				t.Errorf("%s %s%s: stream has %d calls, %q", c.reply, choice, c.fields, begun, ended)
			}
		}
	}
	url := serve(t, v, sayAnyhow(v, one, 3))
	for _, fields := range []string{`"max_tool_calls": 0`, `"tool_forms": "mine"`, `"repeat_calls": 1`} {
		if status, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], `+fields+`, `+weatherTools+`}`); status != 400 {
			t.Errorf("%s: %d %v", fields, status, got)
		}
	}
}

// TestForeignCallIsRecast checks that a call in another model's form is recast as the start of a list, from which the
// model continues.
func TestForeignCallIsRecast(t *testing.T) {
	v := familyVocab(t, "qwen25")
	call := func(days int) string {
		return fmt.Sprintf(`{"name": "weather", "arguments": {"days": %d, "unit": "C"}}`, days)
	}
	const open, between = "[\n", ",\n"
	for _, c := range []struct {
		name, reply, list, fields string
		calls                     int
	}{
		{"block", "```json\n" + call(3) + "\n```", open + call(3) + between + call(4) + between + call(5) + "\n]", "", 3},
		{"only one", "```json\n" + call(3) + "\n```", open + call(3) + "\n]", "", 1},
		{"ends at once", "```json\n" + call(3) + "\n```", open + call(3), "", 1},
		{"no bracket at the end", "```json\n" + call(3) + "\n```", open + call(3) + between + call(4), "", 2},
		{"laid out", "```json\n{\n  \"name\": \"weather\",\n  \"arguments\": {\n    \"days\": 3,\n    \"unit\": \"C\"\n}\n}\n```", open + call(3) + between + call(4) + "]", "", 2},
		{"bare", call(3), open + call(3) + between + call(4) + "]", "", 2},
		{"after words", "I look:\n```json\n" + call(3) + "\n```", "I look:\n" + open + call(3) + between + call(4) + "\n]", "", 2},
		{"one at a time", "```json\n" + call(3) + "\n```", open + call(3) + between + call(4) + "]", `, "parallel_tool_calls": false`, 1},
		{"own forms alone", "<tool_call>\n" + call(3) + "\n</tool_call>", open + call(3), `, "tool_forms": "own"`, 1},
	} {
		for seed := range uint64(6) {
			choice := "auto"
			if seed >= 3 {
				if c.fields != "" || strings.HasPrefix(c.list, "I look") {
					break // there the text is in the model's own form from the start
				}
				choice = "required"
			}
			next := sayRecast(v, c.reply, c.list, seed)
			var contexts []string
			_, url := start(t, setup{vocab: v, next: func(history []int32, logits []float32) {
				contexts = append(contexts, named(v, history))
				next(history, logits)
			}})
			body := `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 400, "call_confidence": 0, "tool_choice": "` + choice + `"` + c.fields + `, ` + weatherTools
			_, _, got := post(t, url+"/v1/chat/completions", body+`}`)
			calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
			if len(calls) != c.calls || at(got, "choices", 0, "finish_reason") != "tool_calls" || at(got, "x_constraint", "validated") != true {
				t.Fatalf("%s: %v", c.name, got)
			}
			for i, call := range callsOf(calls) {
				if want := fmt.Sprintf(`{"days":%d,"unit":"C"}`, 3+i); strings.Join(strings.Fields(call[1]), "") != want {
					t.Errorf("%s: call %d is %v", c.name, i, call)
				}
			}
			last := contexts[len(contexts)-1]
			answer := last[strings.LastIndex(last, "assistant\n")+len("assistant\n"):]
			if recast := !strings.HasPrefix(c.reply, answer); recast != (c.fields == "") || recast && !strings.HasPrefix(c.list, answer) {
				t.Errorf("%s: the context ends with %q", c.name, answer)
			}
			usage, _ := at(got, "usage", "completion_tokens").(float64)
			if usage < 10 || usage > 400 {
				t.Errorf("%s: %v tokens", c.name, usage)
			}
			streamed := 0
			for _, chunk := range chatChunks(t, url, body+`, "stream": true}`) {
				if at(chunk, "choices", 0, "delta", "tool_calls", 0, "id") != nil {
					streamed++
				}
			}
			if streamed != c.calls {
				t.Errorf("%s: the stream has %d calls", c.name, streamed)
			}
		}
	}
}

// TestRecastKeepsPrompt checks that a prompt stays in the cache as it was read, with the logits after it, when the call after
// it is recast: read in another way, it would give other probabilities the next time.
func TestRecastKeepsPrompt(t *testing.T) {
	v := familyVocab(t, "qwen25")
	const call = `{"name": "weather", "arguments": {"days": 3, "unit": "C"}}`
	_, url := start(t, setup{vocab: v, next: sayRecast(v, "```json\n"+call+"\n```", "[\n"+call+"\n]", 0), opt: scripted.Options{Grain: 64}})
	for i := range 3 {
		_, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "call_confidence": 0, `+weatherTools+`}`)
		if at(got, "choices", 0, "message", "tool_calls", 0, "function", "name") != "weather" {
			t.Fatal(got)
		}
		prompt, cached := at(got, "usage", "prompt_tokens"), at(got, "usage", "prompt_tokens_details", "cached_tokens")
		if want := []any{0.0, prompt, prompt}[i]; cached != want {
			t.Errorf("request %d: %v of %v tokens cached, want %v", i, cached, prompt, want)
		}
	}
}

// TestAnotherCall checks that a call that is recast is followed by another one only if the model is sure of that: alone,
// it would have ended there.
func TestAnotherCall(t *testing.T) {
	v := familyVocab(t, "qwen25")
	const first = `{"name": "weather", "arguments": {"days": 3, "unit": "C"}}`
	for _, c := range []struct {
		sure  float64
		calls int
	}{{0.95, 2}, {0.85, 2}, {0.75, 1}, {0.55, 1}, {0.1, 1}} {
		next := sayRecast(v, "```json\n"+first+"\n```", "[\n"+first+",\n"+`{"name": "now", "arguments": {}}`+"\n]", 1)
		url := serve(t, v, func(history []int32, logits []float32) {
			next(history, logits)
			if !strings.HasSuffix(named(v, history), "[\n"+first) {
				return
			}
			for id := range logits {
				logits[id] = -1000
			}
			logits[v.TokenizeText(nil, []byte(","))[0]] = float32(math.Log(c.sure))
			logits[v.EOG()[0]] = float32(math.Log(1 - c.sure))
		})
		_, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 400, "call_confidence": 0, `+weatherTools+`}`)
		if calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any); len(calls) != c.calls {
			t.Errorf("sure of another call with %v: %d calls: %v", c.sure, len(calls), got)
		}
	}
}

// TestNoFalseAlarms checks that JSON in prose and code is not taken for calls, whatever tools there are. The answers
// are by SmolLM2-135M-Instruct and Qwen2.5-Coder-0.5B-Instruct, asked for examples of JSON, schemas, code and
// explanations of calls.
func TestNoFalseAlarms(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "answers-with-json.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	v := familyVocab(t, "qwen25")
	const tools = `"tools": [
		{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}},
		{"type": "function", "function": {"name": "todo", "parameters": {"type": "object", "properties": {"id": {"type": "integer"}, "title": {"type": "string"}}}}},
		{"type": "function", "function": {"name": "user", "parameters": {"type": "object"}}},
		{"type": "function", "function": {"name": "get_recipe", "parameters": {"type": "object"}}}]`
	var answer atomic.Value
	answer.Store("")
	_, url := start(t, setup{vocab: v, next: func(history []int32, logits []float32) {
		scripted.SayText(v, answer.Load().(string))(history, logits)
	}})
	answers := 0
	for line := range strings.Lines(string(data)) {
		var c struct{ Model, Prompt, Answer string }
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsRune(c.Answer, '\uFFFD') || !strings.Contains(c.Answer, "{") {
			continue
		}
		answers++
		answer.Store(c.Answer)
		_, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 2000, `+tools+`}`)
		text, _ := at(got, "choices", 0, "message", "content").(string)
		if calls := at(got, "choices", 0, "message", "tool_calls"); calls != nil || text != c.Answer {
			t.Errorf("%s, %s\n  wrote %q\n  read  %q, calls %v", c.Model, c.Prompt, c.Answer, text, calls)
		}
	}
	t.Logf("%d answers", answers)
	if answers < 200 {
		t.Errorf("only %d answers have JSON", answers)
	}
}

// TestNoFalseAlarmsOfCode checks that texts that look like calls in other forms are not taken for calls: prose about code,
// documentation, definitions, XML, and lists of calls of functions that are no tools.
func TestNoFalseAlarmsOfCode(t *testing.T) {
	v := familyVocab(t, "qwen25")
	const tools = `"tools": [
		{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "unit": {"type": "string"}}, "required": ["city"]}}},
		{"type": "function", "function": {"name": "todo", "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "title": {"type": "string"}}}}},
		{"type": "function", "function": {"name": "user", "parameters": {"type": "object"}}},
		{"type": "function", "function": {"name": "get_recipe"}}]`
	var answer atomic.Value
	answer.Store("")
	_, url := start(t, setup{vocab: v, next: func(history []int32, logits []float32) {
		scripted.SayText(v, answer.Load().(string))(history, logits)
	}})
	answers := 0
	for _, form := range []string{
		"%s(city)", "%s()", "%s(city: str, unit: str = \"C\") -> dict\n    Returns what is known of a city.", "def %s(city=\"Bern\"):\n    return city", "%s(city=\"Bern\") is the simplest call.",
		"%s(\n  city=\"Bern\"\n).then(print)", "%s(city=\"Bern\")[\"days\"]", "%s(city=\"Bern\").json()", "%s(city=\"Bern\") + %[1]s(city=\"Thun\")", "%s(city = \"Bern\")",
		"`%s(city=\"Bern\")` asks for one city.", "x = %s(city=\"Bern\")\nprint(x)", "print(%s(city=\"Bern\"))", "await %s(city=\"Bern\")", ">>> %s(city=\"Bern\")\n{}", "# %s(city=\"Bern\")\n\nA heading.",
		"- %s(city=\"Bern\")\n- %[1]s(city=\"Thun\")", "1. %s(city=\"Bern\")", "To call it:\n\n%s(city=\"Bern\")\n\nThat's all.", "To call it:\n\n    %s(city=\"Bern\")\n",
		"```python\n%s(city=\"Bern\")\n```", "```python\n[%s(city=\"Bern\")]\n```", "```\n%s(city=\"Bern\")\n```", "```js\n%s({city: \"Bern\"})\n```", "```py\nfor c in cities:\n    %s(city=c)\n```",
		"[%s(c) for c in cities]", "[%s, print, len]", "[f(x=1), %s(city=\"Bern\")]", "[print(1), len(\"a\")]\n%s", "[str(city=\"Bern\")] # %s", "[%s(city=\"Bern\") for _ in range(3)]", "[[%s(city=\"Bern\")]]", "(%s(city=\"Bern\"),)",
		"[%s](https://example.com/city=Bern)", "[%s(city)](https://example.com)", "[x] %s(city=\"Bern\")\n[ ] the rest", "%s.call", "%s.city = \"Bern\"", "%s{city=\"Bern\"} 5", "%s?city=Bern", "%s city=Bern unit=C",
		"<%s city=\"Bern\"/>", "<%s>\n  <city>Bern</city>\n</%[1]s>", "<invoke>%s</invoke>", "<invoke method=\"%s\">\n<parameter name=\"city\">Bern</parameter>\n</invoke>", "<target name=\"%s\">\n<invoke name=\"build\"/>\n</target>",
		"<parameter name=\"%s\">Bern</parameter>", "<function name=\"%s\"/>", "<functions>\n<function>%s</function>\n</functions>", "The tag <invoke name=\"%s\"> calls it.", "<?xml version=\"1.0\"?>\n<call name=\"%s\"/>",
		"```xml\n<invoke name=\"%s\">\n```", "<function_calls> is where %s would stand.", "[TOOL_CALLS] comes before %s.", "[TOOL_CALLS]%s", "[ARGS]%s{}", "<｜tool▁sep｜>%s", "<|python_tag|> is a token, like %s.",
	} {
		for _, name := range []string{"weather", "todo", "user", "get_recipe"} {
			text := strings.ReplaceAll(strings.ReplaceAll(form, "%[1]s", name), "%s", name)
			if strings.Contains(text, "<invoke name=\""+name) && strings.HasPrefix(text, "```xml") {
				text = "XML:\n" + text
			}
			answers++
			answer.Store(text)
			_, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 500, `+tools+`}`)
			content, _ := at(got, "choices", 0, "message", "content").(string)
			if calls := at(got, "choices", 0, "message", "tool_calls"); calls != nil || content != text {
				t.Errorf("wrote %q\n  read  %q, calls %v", text, content, calls)
			}
		}
	}
	t.Logf("%d answers", answers)
}

// TestForeignValues checks that arguments that are difficult to write are the same values in the forms that write arguments one by
// one, and that the next request has the calls in the template's own form.
func TestForeignValues(t *testing.T) {
	v := familyVocab(t, "qwen25")
	const tools = `"tools": [{"type": "function", "function": {"name": "note", "parameters": {"type": "object", "properties": {
		"text": {"type": "string"}, "sure": {"type": "boolean"}, "count": {"type": "integer"}, "ratio": {"type": "number"}, "place": {"type": "object", "properties": {"at": {"type": "object"}}},
		"list": {"type": "array"}, "by": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null}, "kind": {"enum": ["a b", "c"]}}, "required": ["text"]}}}]`
	const want = `{"text": "It's \"so\":\n  {nice} & <b>\\ é 日本 😀", "sure": true, "count": -3, "ratio": 0.5, "place": {"at": {}}, "list": ["a\tb", [], null], "by": null, "kind": "a b"}`
	const text, quoted = "It's \"so\":\n  {nice} & <b>\\ é 日本 😀", `"It's \"so\":\n  {nice} & <b>\\ é 日本 😀"`
	tags := func(open, middle, closing string) (out string) {
		for _, a := range [][2]string{{"text", text}, {"sure", "true"}, {"count", "-3"}, {"ratio", "0.5"}, {"place", `{"at": {}}`}, {"list", `["a\tb", [], null]`}, {"by", "null"}, {"kind", "a b"}} {
			out += open + a[0] + middle + a[1] + closing
		}
		return out
	}
	for _, reply := range []string{
		`[note(text=` + quoted + `, sure=True, count=-3, ratio=0.5, place={"at": {}}, list=["a\tb", [], null], by=None, kind="a b")]`,
		`note(sure=true, text=` + quoted + `, count=-3, ratio=0.5, place={"at": {}}, list=["a\tb", [], null], by=null, kind="a b")`,
		"<invoke name=\"note\">" + tags("\n<parameter name=\"", `">`, "</parameter>") + "\n</invoke>",
		"<function=note>" + tags("\n<parameter=", ">\n", "\n</parameter>") + "\n</function>",
	} {
		url := serve(t, v, sayAnyhow(v, reply, 1))
		body := `{"messages": [{"role": "user", "content": "x"}%s], "temperature": 0, "max_tokens": 500, "call_confidence": 0, ` + tools + `}`
		_, _, got := post(t, url+"/v1/chat/completions", fmt.Sprintf(body, ""))
		calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
		list := callsOf(calls)
		if len(list) != 1 || list[0][0] != "note" || sameJSON(list[0][1]) != sameJSON(want) || at(got, "x_constraint", "validated") != true {
			t.Errorf("%s:\n  %v", reply, got)
			continue
		}
		answer, err := json.Marshal(at(got, "choices", 0, "message"))
		if err != nil {
			t.Fatal(err)
		}
		var prompt string
		_, again := start(t, setup{vocab: v, next: func(history []int32, logits []float32) {
			prompt = named(v, history)
			scripted.SayText(v, "Done.")(history, logits)
		}})
		post(t, again+"/v1/chat/completions", fmt.Sprintf(body, `, `+string(answer)+`, {"role": "tool", "tool_call_id": "x", "content": "ok"}`))
		if strings.Count(prompt, "<tool_call>\n{\"name\": \"note\", \"arguments\": {") < 1 || strings.Contains(prompt, reply) {
			t.Errorf("%s: the next prompt is %q", reply, prompt)
		}
	}
}

// TestForeignBesideLateIDs checks calls in another form with a template that writes a call's id after its arguments.
func TestForeignBesideLateIDs(t *testing.T) {
	v := familyVocab(t, "mistral", "[TOOL_CALLS]")
	reply := `[{"name": "weather", "arguments": {"days": 3, "unit": "C"}}, {"name": "now", "arguments": {}}]`
	url := serve(t, v, sayAnyhow(v, reply, 1))
	_, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 300, "call_confidence": 0, `+weatherTools+`}`)
	calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
	if list := callsOf(calls); len(list) != 2 || list[0][0] != "weather" || list[1][0] != "now" {
		t.Errorf("%v", got)
	}
}

// TestForeignLimits checks what isn't looked for: calls in forms whose arguments masks can't hold to the schema, and, with a warning,
// such forms of tools with too many arguments.
func TestForeignLimits(t *testing.T) {
	v := familyVocab(t, "qwen25")
	ask := func(reply, tools string) (text string, calls []any, warnings string) {
		url := serve(t, v, sayAnyhow(v, reply, 1))
		_, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 300, "call_confidence": 0, "tools": [`+tools+`]}`)
		if at(got, "choices") == nil {
			t.Fatal(got)
		}
		text, _ = at(got, "choices", 0, "message", "content").(string)
		calls, _ = at(got, "choices", 0, "message", "tool_calls").([]any)
		return text, calls, fmt.Sprint(got["warnings"])
	}
	tool := func(name, parameters string) string {
		return `{"type": "function", "function": {"name": "` + name + `", "parameters": {"type": "object", ` + parameters + `}}}`
	}
	const either = `"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]`
	const reply = "[f(a=1, b=2)]"
	// An argument that no value fits is no error: in JSON, it can be left out.
	if text, calls, _ := ask(`{"name": "f", "arguments": {"a": 1}}`, tool("f", `"properties": {"a": {"type": "integer"}, "never": {"type": "integer", "enum": ["x"]}}`)); text != "" || len(calls) != 1 {
		t.Errorf("an argument without a value: %q %v", text, calls)
	}
	if text, calls, _ := ask(reply, tool("f", either)); text != reply || calls != nil {
		t.Errorf("masks can't hold the arguments to oneOf: %q %v", text, calls)
	}
	var many []string
	for i := range 50 {
		many = append(many, fmt.Sprintf(`"a_rather_long_name_of_an_argument_%d": {"type": "integer"}`, i))
	}
	all := tool("f", `"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}`) + ", " + tool("g", `"properties": {`+strings.Join(many, ", ")+`}`)
	if text, calls, warnings := ask(reply, all); text != reply || calls != nil || !strings.Contains(warnings, "too many arguments") {
		t.Errorf("too many arguments: %q %v %s", text, calls, warnings)
	}
	if text, calls, warnings := ask(`{"name": "f", "arguments": {"a": 1, "b": 2}}`, all); text != "" || len(calls) != 1 || !strings.Contains(warnings, "too many arguments") {
		t.Errorf("JSON of a tool with too many arguments: %q %v %s", text, calls, warnings)
	}
}
