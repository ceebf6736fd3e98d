//go:build llama && cgo

package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/internal/realmodels"
)

// Plain facts, as choices, predicates and scores.
func TestDecisionsRealModel(t *testing.T) {
	url := startReal(t, realmodels.Qwen)
	const text = "The customer writes: I was charged twice for my order last week and nobody has replied. I want my money back today!"
	for _, c := range []struct {
		question string
		right    func(answer any) bool
	}{
		{`{"type":"choice","instructions":"Which team should handle this?","choices":[{"value":"billing","description":"payments and refunds"},{"value":"shipping","description":"parcels"},{"value":"gardening"}]}`,
			func(a any) bool { return at(a, "choice") == "billing" }},
		{`{"type":"choice","instructions":"What is the capital of France?","choices":[{"value":"Berlin"},{"value":"Paris"},{"value":"Rome"}]}`,
			func(a any) bool { return at(a, "choice") == "Paris" }},
		{`{"type":"choice","instructions":"In which language is the text written?","choices":[{"value":"Chinese"},{"value":"German"},{"value":"English"}]}`,
			func(a any) bool { return at(a, "choice") == "English" }},
	} {
		for _, orders := range []int{1, 2} {
			quoted, _ := json.Marshal(text)
			status, _, got := post(t, url+"/v1/decisions", fmt.Sprintf(`{"model":"real","input":%s,"orders":%d,"questions":[%s]}`, quoted, orders, c.question))
			if status != 200 || !c.right(at(got, "answers", 0)) {
				t.Errorf("%s, %d orders: %d %v", c.question, orders, status, got)
			}
		}
	}
	// The hotter soup has the higher score.
	heat := func(text string) float64 {
		_, _, got := post(t, url+"/v1/decisions", `{"model":"real","input":"`+text+`","orders":2,"questions":[{"type":"score","instructions":"How hot is the soup?","levels":[{"label":"cold"},{"label":"warm"},{"label":"hot"}]}]}`)
		return at(got, "answers", 0, "score").(float64)
	}
	if cold, hot := heat("The soup is ice cold."), heat("The soup is boiling hot."); cold >= hot {
		t.Errorf("cold soup: %g, hot soup: %g", cold, hot)
	}
	// Questions in one request read the text once.
	status, _, got := post(t, url+"/v1/systemone", `{"state":"`+"A long letter. The sky is blue, the grass is green, and snow is white. "+`","questions":{
		"sky":{"type":"choice","instructions":"What colour is the sky?","criteria":{"blue":null,"green":null,"white":null}},
		"grass":{"type":"choice","instructions":"What colour is the grass?","criteria":{"blue":null,"green":null,"white":null}},
		"snow":{"type":"noul","instructions":"Is the snow white?"}}}`)
	if status != 200 || at(got, "answers", "sky", "choice") != "blue" || at(got, "answers", "grass", "choice") != "green" {
		t.Errorf("%d %v", status, got)
	}
	// So small a model says no too often, but true statements are likelier than false
	// ones.
	letter, _ := json.Marshal(strings.Repeat("The weather was fine. ", 16) + text)
	_, _, native := post(t, url+"/decide", `{"input":`+string(letter)+`,"questions":[{"type":"predicate","instructions":"Was the customer charged twice?"},{"type":"predicate","instructions":"Is the text about a payment?"},
		{"type":"predicate","instructions":"Is the text about gardening?"},{"type":"predicate","instructions":"Did somebody reply to the customer?"}]}`)
	for _, yes := range []int{0, 1} {
		for _, no := range []int{2, 3} {
			if a, b := at(native, "answers", yes, "probability").(float64), at(native, "answers", no, "probability").(float64); a <= b {
				t.Errorf("questions %d and %d: %g, %g", yes, no, a, b)
			}
		}
	}
	total, cached := at(native, "usage", "input_tokens").(float64), at(native, "usage", "input_tokens_details", "cached_tokens").(float64)
	if cached < total/2 {
		t.Errorf("%v of %v tokens were shared", cached, total)
	}
	t.Log(native)
}
