package server

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/vocab"
)

// sayPerhaps returns a model that begins its answer, which follows the text after, with call with the given probability, and
// else with plain.
func sayPerhaps(v *vocab.Vocab, after, call, plain string, probability float64) scripted.Func {
	first := func(text string) int32 {
		for id := range int32(v.Len()) {
			if v.Kind(id) == vocab.Control && strings.HasPrefix(text, v.Text(id)) {
				return id
			}
		}
		return v.TokenizeText(nil, []byte(text))[0]
	}
	calls, talks := sayAnyhow(v, call, 1), sayAnyhow(v, plain, 1)
	return func(history []int32, logits []float32) {
		text := named(v, history)
		answer := text[strings.LastIndex(text, after)+len(after):]
		switch {
		case strings.HasSuffix(text, after):
			for i := range logits {
				logits[i] = -100
			}
			logits[first(call)] = float32(math.Log(probability))
			logits[first(plain)] = float32(math.Log(1 - probability))
		case strings.HasPrefix(answer, plain[:1]):
			talks(history, logits)
		default:
			calls(history, logits)
		}
	}
}

// TestToolConfidence checks that an answer begins with a call only if the model gives that the wanted probability, and
// that the receipt reports it.
func TestToolConfidence(t *testing.T) {
	const plain = "No tool is of use here."
	object := `{"name": "now", "arguments": {}}`
	v := familyVocab(t, "qwen25")
	for _, call := range []string{"<tool_call>\n" + object + "\n</tool_call>", "```json\n" + object + "\n```", object, "[" + object + "]"} {
		url := serve(t, v, sayPerhaps(v, "assistant\n", call, plain, 0.7))
		for _, c := range []struct {
			fields   string
			calls    bool
			reported bool
		}{
			{``, true, false},
			{`, "tool_confidence": 0`, true, true},
			{`, "tool_confidence": 0.69`, true, true},
			{`, "tool_confidence": 0.71`, false, true},
			{`, "tool_confidence": 1`, false, true},
			{`, "tool_confidence": 1, "tool_choice": "required"`, true, false},
		} {
			if strings.HasPrefix(call, "[") && strings.Contains(c.fields, "required") {
				continue // lists are written with several calls there
			}
			body := `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 300, "call_confidence": 0, ` + weatherTools + c.fields
			_, _, got := post(t, url+"/v1/chat/completions", body+`}`)
			calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
			content, _ := at(got, "choices", 0, "message", "content").(string)
			p, reported := at(got, "x_constraint", "call_probability").(float64)
			if c.calls != (len(calls) == 1) || !c.calls && content != plain || reported != c.reported || reported && math.Abs(p-0.7) > 1e-3 {
				t.Errorf("%q%s: %v", call, c.fields, got)
			}
			streamed := ""
			for _, chunk := range chatChunks(t, url, body+`, "stream": true}`) {
				piece, _ := at(chunk, "choices", 0, "delta", "content").(string)
				streamed += piece
			}
			if c.calls != (streamed == "") || !c.calls && streamed != plain {
				t.Errorf("%q%s: stream %q", call, c.fields, streamed)
			}
		}
	}
	// After thoughts, which are not held back whatever they begin with.
	thoughts := "<think>\n{\"a\": 1}\n</think>\n\n"
	v = familyVocab(t, "qwen3", "<think>", "</think>", "<tool_call>", "</tool_call>")
	own := "<tool_call>\n" + object + "\n</tool_call>"
	answer := sayPerhaps(v, "</think>\n\n", own, plain, 0.7)
	begin := sayAnyhow(v, thoughts, 1)
	url := serve(t, v, func(history []int32, logits []float32) {
		if strings.Contains(named(v, history), "</think>\n\n") {
			answer(history, logits)
		} else {
			begin(history, logits)
		}
	})
	for _, least := range []float64{0.6, 0.8} {
		_, _, got := post(t, url+"/v1/chat/completions", fmt.Sprintf(`{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 300, "tool_confidence": %g, %s}`, least, weatherTools))
		message := at(got, "choices", 0, "message")
		thought, _ := at(message, "reasoning_content").(string)
		if content, _ := at(message, "content").(string); (content == plain) != (least > 0.7) || !strings.Contains(thought, `{"a": 1}`) {
			t.Errorf("after thoughts, %g: %v", least, got)
		}
	}
	// What the model says instead holds no call in another form, even if it says how it would have called; where it was
	// going to say that, it does.
	v = familyVocab(t, "qwen25")
	shown := "Use this call:\n\n```json\n" + object + "\n```\n"
	for probability, calls := range map[float64]bool{0.7: false, 0.3: true} {
		url := serve(t, v, sayPerhaps(v, "assistant\n", object, shown, probability))
		_, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 300, "tool_confidence": 0.8, "call_confidence": 0, `+weatherTools+`}`)
		list, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
		if content, _ := at(got, "choices", 0, "message", "content").(string); calls != (len(list) == 1) || !calls && content != shown {
			t.Errorf("a call within the answer, %g: %v", probability, got)
		}
	}
	// The operator's bound is for requests without one.
	v = familyVocab(t, "qwen25")
	bound := float32(0.8)
	_, url = start(t, setup{vocab: v, next: sayPerhaps(v, "assistant\n", object, plain, 0.7), cfg: Config{Defaults: request.Defaults{ToolLeast: &bound}}})
	for fields, calls := range map[string]bool{``: false, `, "tool_confidence": null`: false, `, "tool_confidence": 0`: true, `, "tool_confidence": 0.5`: true} {
		_, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "temperature": 0, "max_tokens": 300, "call_confidence": 0, `+weatherTools+fields+`}`)
		if list, _ := at(got, "choices", 0, "message", "tool_calls").([]any); calls != (len(list) == 1) {
			t.Errorf("with an operator's bound, %q: %v", fields, got)
		}
	}
	for _, bad := range []float32{-0.1, 1.01, float32(math.NaN())} {
		if (&request.Defaults{ToolLeast: &bad}).Check() == nil {
			t.Errorf("a bound of %g is accepted", bad)
		}
	}
	for _, bad := range []string{`-0.1`, `1.5`, `"0.5"`, `true`} {
		status, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "tool_confidence": `+bad+`}`)
		if status != http.StatusBadRequest || at(got, "error", "param") != "tool_confidence" {
			t.Errorf("tool_confidence %s: %d %v", bad, status, got)
		}
	}
}
