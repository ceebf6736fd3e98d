package server

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/poll"
	"github.com/stencil-json/stencil/vocab"
)

// opined returns a model that is asked whether a tool is relevant, and says yes with the given probability for a request, as a
// ratio to that for the tool's description. Elsewhere it is another model.
func opined(v *vocab.Vocab, otherwise scripted.Func, ratio float64) scripted.Func {
	const asks, own = "Is the function relevant to the request? Answer yes or no.", 0.9
	yes, no := v.TokenizeText(nil, []byte("yes"))[0], v.TokenizeText(nil, []byte("no"))[0]
	return func(history []int32, logits []float32) {
		text := named(v, history)
		_, about, asked := strings.Cut(text, "Function: ")
		if !asked || !strings.Contains(text, asks) {
			otherwise(history, logits)
			return
		}
		_, about, _ = strings.Cut(about, "): ")
		description, about, _ := strings.Cut(about, "\nRequest: ")
		p := own
		if request, _, _ := strings.Cut(about, "\n"+asks); request != description {
			p *= ratio
		}
		for i := range logits {
			logits[i] = -100
		}
		logits[yes], logits[no] = float32(math.Log(p)), float32(math.Log(1-p))
	}
}

// TestCallRelevance checks that a model that is neither sure nor unsure of a call in another form is asked whether the tool is
// relevant, that this decides, and that receipts report it; also where the engine has room for one text only.
func TestCallRelevance(t *testing.T) {
	v := familyVocab(t, "qwen25")
	object := `{"name": "weather", "arguments": {"city": "Bergen", "days": 3}}`
	user := `[{"role": "user", "content": "How is the weather?"}]`
	result := `[{"role": "user", "content": "How is the weather?"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Oslo\", \"days\": 1}"}}]}, {"role": "tool", "tool_call_id": "a", "content": "rain"}]`
	for _, c := range []struct {
		sure, ratio      float64
		messages, fields string
		asked, call      bool
	}{
		{0.85, 1, user, ``, true, true},
		{0.85, 0.86, user, ``, true, true},
		{0.85, 0.6, user, ``, true, false},
		{0.85, 0.01, user, ``, true, false},
		{0.7, 1, user, ``, true, true},
		{0.7, 0.86, user, ``, true, false},
		{0.7, 0.86, user, `, "deterministic": true`, true, false},
		{0.7, 1, user, `, "deterministic": true`, true, true},
		{0.7, 1, user, `, "cache_prompt": false`, true, true},
		{0.7, 0.86, user, `, "call_confidence": 0.6`, true, true},
		{0.98, 0.1, user, ``, false, true},
		{0.85, 0.1, user, `, "call_confidence": 0`, false, true},
		{0.85, 0.1, result, ``, false, true},
		{0.7, 1, result, ``, false, false},
	} {
		for _, room := range []engine.Config{{Parallel: 1, CacheSlots: -1, Queue: 1}, {Parallel: 4}} {
			_, url := start(t, setup{vocab: v, next: opined(v, sayUnsure(v, "assistant\n", object, `"name"`, c.sure), c.ratio), eng: room})
			body := `{"messages": ` + c.messages + `, "temperature": 0, "max_tokens": 300, ` + doubtTools + c.fields
			_, _, got := post(t, url+"/v1/chat/completions", body+`}`)
			calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
			content, _ := at(got, "choices", 0, "message", "content").(string)
			ratio, asked := at(got, "x_constraint", "call_relevance").(float64)
			want := ""
			if !c.call {
				want = object
			}
			if (len(calls) == 1) != c.call || content != want || asked != c.asked || asked && math.Abs(ratio-c.ratio) > 1e-3 {
				t.Errorf("%+v: %v", c, got)
			}
			if sure, _ := at(got, "x_constraint", "call_confidence").(float64); c.asked {
				odds := c.sure / (1 - c.sure) * math.Pow(c.ratio/0.86, 6)
				if math.Abs(sure-odds/(1+odds)) > 0.06 {
					t.Errorf("%+v: confidence %g, want %g", c, sure, odds/(1+odds))
				}
			}
			streamed, called := streamedCall(t, url, body)
			if called != c.call || streamed != want {
				t.Errorf("%+v: stream %q, calls %v", c, streamed, called)
			}
		}
	}
}

// TestAskedBesideOthers checks that requests whose models are asked about their calls are answered in a crowd.
func TestAskedBesideOthers(t *testing.T) {
	v := familyVocab(t, "qwen25")
	object := `{"name": "weather", "arguments": {"city": "Bergen", "days": 3}}`
	srv, url := start(t, setup{vocab: v, next: opined(v, sayUnsure(v, "assistant\n", object, `"name"`, 0.85), 1), eng: engine.Config{Parallel: 2, CacheSlots: -1, Queue: 8}})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			body := fmt.Sprintf(`{"messages": [{"role": "user", "content": "How is the weather in %d?"}], "temperature": 0, "n": 2, "max_tokens": 300, %s}`, i, doubtTools)
			status, _, got := post(t, url+"/v1/chat/completions", body)
			for choice := range 2 {
				if calls, _ := at(got, "choices", choice, "message", "tool_calls").([]any); status != http.StatusOK || len(calls) != 1 {
					t.Errorf("%d: %d %v", i, status, got)
				}
			}
		})
	}
	all.Wait()
	poll.Until(func() bool { return unused(srv) })
}
