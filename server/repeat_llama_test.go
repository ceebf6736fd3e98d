//go:build llama && cgo

package server

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stencil-json/stencil/internal/realmodels"
)

// TestSameText sends the same conversations repeatedly to a server with four slots,
// in different orders and with other requests before and between them. Served alone,
// each gets the same text with exactly the same probabilities. The environment
// variable REPEAT sets the number of conversations.
func TestSameText(t *testing.T) {
	for _, m := range []realmodels.Model{realmodels.SmolLM2, realmodels.Qwen} {
		t.Run(m.Name, func(t *testing.T) { repeatConversations(t, m) })
	}
}

// topics are the subjects of the conversations.
var topics = []string{"the sea", "an old clock", "bread", "a bridge over a river", "winter", "the moon", "a lost key", "chess", "rice", "a slow train"}

func repeatConversations(t *testing.T, m realmodels.Model) {
	n := 4
	if s := os.Getenv("REPEAT"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	url := startReal(t, m)
	type message map[string]string
	send := func(messages []message, more string) (text, detail string, cached float64) {
		body, _ := json.Marshal(messages)
		status, _, got := post(t, url+"/v1/chat/completions", fmt.Sprintf(`{"logprobs": true, "messages": %s, %s}`, body, more))
		if status != 200 {
			t.Errorf("%d: %v", status, got)
		}
		text, _ = at(got, "choices", 0, "message", "content").(string)
		raw, _ := json.Marshal(at(got, "choices", 0, "logprobs", "content"))
		cached, _ = at(got, "usage", "prompt_tokens_details", "cached_tokens").(float64)
		return text, string(raw), cached
	}
	others := rand.New(rand.NewPCG(1, 2))
	other := func() {
		words := strings.Repeat("one two three ", others.IntN(60))
		send([]message{{"role": "user", "content": words + strconv.Itoa(others.IntN(1000))}}, `"max_tokens": 9, "temperature": 1`)
	}
	conversation := func(i int) (string, string, string) {
		topic := topics[i%len(topics)]
		system := "You write short texts."
		if i%3 == 1 {
			system = strings.Repeat("You know about "+strings.Join(topics, ", ")+". ", 1+i%4)
		}
		more := `"max_tokens": 20, "temperature": 0`
		if i%2 == 1 {
			more = fmt.Sprintf(`"max_tokens": 20, "temperature": 1, "seed": %d`, i)
		}
		if i%4 >= 2 {
			more += `, "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object", "properties": {"title": {"type": "string"}, "words": {"type": "array", "items": {"type": "string"}}}, "required": ["title", "words"]}}}`
		}
		question := fmt.Sprintf("%sWrite line %d about %s.", strings.Repeat("It is late. ", i*5%37), i, topic)
		messages := []message{{"role": "system", "content": system}, {"role": "user", "content": question}}
		first, detail, c1 := send(messages, more)
		messages = append(messages, message{"role": "assistant", "content": first}, message{"role": "user", "content": "Now about the opposite."})
		second, detail2, c2 := send(messages, more)
		return first + "\n" + second, detail + detail2, fmt.Sprint(c1, "+", c2)
	}
	texts, details := make([]string, n), make([]string, n)
	for round := range 3 {
		for _, i := range others.Perm(n) {
			switch others.IntN(4) {
			case 0:
				other()
			case 1:
				var w sync.WaitGroup
				for range 3 {
					w.Go(other)
				}
				w.Wait()
			}
			text, detail, cached := conversation(i)
			if cmp.Or(texts[i], text) != text {
				t.Errorf("round %d, conversation %d, %s tokens cached: %q, before %q", round, i, cached, text, texts[i])
			} else if cmp.Or(details[i], detail) != detail {
				t.Errorf("round %d, conversation %d, %s tokens cached: the same text with other probabilities", round, i, cached)
			}
			texts[i], details[i] = cmp.Or(texts[i], text), cmp.Or(details[i], detail)
		}
	}
}

// TestSameCalls is TestSameText for calls, which Qwen2.5-Coder writes in another form than its template's, so that they are
// recast in the model's context.
func TestSameCalls(t *testing.T) {
	url := startReal(t, realmodels.Qwen)
	tools := `"tools": [{"type": "function", "function": {"name": "get_weather", "description": "The weather in a city on a day of the week.", "parameters": {"type": "object",
		"properties": {"city": {"type": "string"}, "day": {"type": "string"}, "unit": {"type": "string", "enum": ["C", "F"], "description": "The unit of temperatures. Default is C."}}, "required": ["city", "day"]}}},
		{"type": "function", "function": {"name": "find_trains", "description": "The trains from one place to another.", "parameters": {"type": "object",
		"properties": {"from": {"type": "string"}, "to": {"type": "string"}}, "required": ["from", "to"]}}}]`
	variants := []string{`"call_confidence": 0, `, `"seed": 3, `, `"forced": false, `}
	first := map[string]string{}
	for range 2 {
		for _, question := range []string{"What is the weather in Paris on Friday?", "Which trains go from Oslo to Bergen?"} {
			for _, more := range variants {
				status, _, got := post(t, url+"/v1/chat/completions", ask(question, `"logprobs": true, `+more+tools))
				if status != 200 {
					t.Fatalf("%d: %v", status, got)
				}
				raw, _ := json.Marshal(at(got, "choices", 0, "logprobs", "content"))
				request, answer := question+more, string(raw)
				if before := cmp.Or(first[request], answer); before != answer {
					t.Errorf("%s, %v of %v tokens cached: %.200s, before %.200s", request, at(got, "usage", "prompt_tokens_details", "cached_tokens"), at(got, "usage", "prompt_tokens"), answer, before)
				}
				first[request] = answer
			}
		}
		slices.Reverse(variants) // other requests are the first ones
	}
}
