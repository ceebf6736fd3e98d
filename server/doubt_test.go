package server

import (
	"math"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/vocab"
)

// sayUnsure returns a model that says text after a prompt, the tokens from a place in it on with the given probability
// each, and the rest surely.
func sayUnsure(v *vocab.Vocab, after, text, from string, probability float64) scripted.Func {
	surely := sayAnyhow(v, text, 1)
	return func(history []int32, logits []float32) {
		surely(history, logits)
		all := named(v, history)
		answer := all[strings.LastIndex(all, after)+len(after):]
		best, most := 0, float32(math.Inf(-1))
		for i, l := range logits {
			if l > most {
				best, most = i, l
			}
		}
		for i := range logits {
			logits[i] = -100
		}
		logits[best] = 0
		if strings.Contains(answer, from) {
			// The rest goes to a token that no text here has.
			logits[best] = float32(math.Log(probability))
			for i := range int32(v.Len()) {
				if string(v.Bytes(i)) == "\v" {
					logits[i] = float32(math.Log(1 - probability))
				}
			}
		}
	}
}

// beginUnsure returns a model that says text after a prompt, its first token with the given probability, all others surely.
func beginUnsure(v *vocab.Vocab, after, text string, probability float64) scripted.Func {
	surely := sayUnsure(v, after, text, "never", 1)
	return func(history []int32, logits []float32) {
		if surely(history, logits); !strings.HasSuffix(named(v, history), after) {
			return
		}
		for i := range logits {
			if logits[i] == 0 {
				logits[i] = float32(math.Log(probability))
			} else if string(v.Bytes(int32(i))) == "\v" {
				logits[i] = float32(math.Log(1 - probability))
			}
		}
	}
}

// streamedCall streams the answer to an open body, and returns its content and whether it has calls.
func streamedCall(t *testing.T, url, body string) (content string, called bool) {
	t.Helper()
	for _, chunk := range chatChunks(t, url, body+`, "stream": true}`) {
		piece, _ := at(chunk, "choices", 0, "delta", "content").(string)
		content += piece
		_, some := at(chunk, "choices", 0, "delta", "tool_calls").([]any)
		called = called || some
	}
	return content, called
}

// TestCallConfidence checks that a call in another form is text, letter for letter, if the model is not sure of its
// arguments, in answers and in streams, and that receipts report how sure it was.
func TestCallConfidence(t *testing.T) {
	v := familyVocab(t, "qwen25")
	object := `{"name": "weather", "arguments": {"city": "Bergen", "days": 3}}`
	// What is taken back is followed by any text.
	for text, from := range map[string]string{
		"```json\n" + object + "\n```\nSo it would be asked.": `"arguments": {`,
		object + " or so": `"arguments": {`,
	} {
		url := serve(t, v, opined(v, sayUnsure(v, "assistant\n", text, from, 0.7), 0.86))
		_, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 300, `+doubtTools+`}`)
		if content, _ := at(got, "choices", 0, "message", "content").(string); content != text || at(got, "choices", 0, "finish_reason") != "stop" {
			t.Errorf("%q: %v", text, got)
		}
	}
	for _, c := range []struct {
		text, before, from string
	}{
		{object, "", `"arguments": {`},
		{"```json\n" + object + "\n```", "", `"arguments": {`},
		{"I look it up.\n```json\n" + object + "\n```", "I look it up.", `"arguments": {`},
		{"functions.weather({\"city\": \"Bergen\", \"days\": 3})", "", `weather({`},
		{`[weather(city="Bergen", days=3)]`, "", `city=`},
		{`weather(city="Bergen", days=3)`, "", `city=`},
		{"I look it up.\n<invoke name=\"weather\">\n<parameter name=\"city\">Bergen</parameter>\n<parameter name=\"days\">3</parameter>\n</invoke>", "I look it up.", `weather">`},
		{`[TOOL_CALLS]weather[ARGS]{"city": "Bergen", "days": 3}`, "", `[ARGS]`},
	} {
		for _, x := range []struct {
			probability float64
			fields      string
			call        bool
		}{
			{0.98, ``, true},
			{0.7, ``, false},
			{0.7, `, "call_confidence": 0`, true},
			{0.7, `, "call_confidence": 0.65`, true},
			{0.7, `, "call_confidence": 0.75`, false},
			{0.7, `, "tool_choice": "required"`, true}, // must be one
		} {
			if strings.Contains(x.fields, "required") && c.text != object {
				continue
			}
			url := serve(t, v, opined(v, sayUnsure(v, "assistant\n", c.text, c.from, x.probability), 0.86))
			body := `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 300, "signals": false, ` + doubtTools + x.fields
			_, _, got := post(t, url+"/v1/chat/completions", body+`}`)
			calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
			content, _ := at(got, "choices", 0, "message", "content").(string)
			want := c.text
			if x.call {
				want = c.before
			}
			sure, reported := at(got, "x_constraint", "call_confidence").(float64)
			judged := !strings.Contains(x.fields, "required")
			if (len(calls) == 1) != x.call || strings.TrimSpace(content) != want || reported != judged || judged && math.Abs(sure-x.probability) > 0.06 {
				t.Errorf("%q, %g%s: %d calls, content %q, confidence %g: %v", c.text, x.probability, x.fields, len(calls), content, sure, got)
			}
			streamed, called := streamedCall(t, url, body)
			if called != x.call || strings.TrimSpace(streamed) != want {
				t.Errorf("%q, %g%s: stream %q, calls %v", c.text, x.probability, x.fields, streamed, called)
			}
		}
	}
	// What begins the answer with a call may not be the likelier beginning.
	for text, call := range map[string]bool{object: false, "I look it up.\n```json\n" + object + "\n```": true} {
		for bound, sure := range map[string]float64{`, "call_confidence": 0.55`: 0.6, ``: 0.6} {
			if call {
				sure = 1
			}
			url := serve(t, v, opined(v, beginUnsure(v, "assistant\n", text, 0.6), 0.86))
			_, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 300, `+doubtTools+bound+`}`)
			list, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
			if p, _ := at(got, "x_constraint", "call_confidence").(float64); math.Abs(p-sure) > 1e-3 || (len(list) == 1) != (call || bound != "") {
				t.Errorf("%q%s: %v", text, bound, got)
			}
		}
	}
	// The probabilities are the model's own, whatever the temperature: at 2, a token with 0.9 is drawn with 0.75.
	for _, temperature := range []string{"0", "0.5", "2"} {
		url := serve(t, v, opined(v, sayUnsure(v, "assistant\n", object, `"arguments": {`, 0.9), 0.86))
		_, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "temperature": `+temperature+`, "seed": 1, "max_tokens": 300, `+doubtTools+`}`)
		list, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
		if p, _ := at(got, "x_constraint", "call_confidence").(float64); len(list) != 1 || math.Abs(p-0.9) > 0.03 {
			t.Errorf("temperature %s: %v", temperature, got)
		}
	}
	// Arguments that the budget cuts short are none that the model was unsure of.
	long := `{"name": "weather", "arguments": {"city": "` + strings.Repeat("x", 200) + `", "days": 3}}`
	url := serve(t, v, opined(v, sayUnsure(v, "assistant\n", long, "never", 1), 0.86))
	_, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 90, `+doubtTools+`}`)
	if list, _ := at(got, "choices", 0, "message", "tool_calls").([]any); len(list) != 1 || at(got, "x_constraint", "budget_closed") != true {
		t.Errorf("at the end of the budget: %v", got)
	}
	// A call in the model's own form is one, however unsure.
	own := "<tool_call>\n" + object + "\n</tool_call>"
	url = serve(t, v, opined(v, sayUnsure(v, "assistant\n", own, `"arguments": {`, 0.6), 0.86))
	_, _, got = post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 300, `+doubtTools+`}`)
	if list, _ := at(got, "choices", 0, "message", "tool_calls").([]any); len(list) != 1 || at(got, "x_constraint", "call_confidence") != nil {
		t.Errorf("in the model's own form: %v", got)
	}
}

const doubtTools = `"tools": [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city", "days"]}}}]`
