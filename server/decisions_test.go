package server

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
)

// thinks returns a model that gives the same logits at every place: those of some
// tokens, by their text.
func thinks(t *testing.T, logits map[string]float32) scripted.Func {
	v := loadVocab(t)
	by := map[int32]float32{}
	for text, x := range logits {
		tokens := v.TokenizeText(nil, []byte(text))
		by[tokens[0]] = x
	}
	return func(_ []int32, row []float32) {
		for id := range row {
			row[id] = -3
		}
		for id, x := range by {
			row[id] = x
		}
	}
}

func near(a any, b float64) bool {
	x, ok := a.(float64)
	return ok && math.Abs(x-b) < 1e-5
}

// TestDecisions checks that the probabilities are the model's, restricted to the
// alternatives.
func TestDecisions(t *testing.T) {
	_, url := start(t, setup{next: thinks(t, map[string]float32{"a": 1, "b": 2, "c": 0, "Yes": 1, "No": 0, "low": 0, "mid": 1, "high": 3, "can wait": 0, "today": 1, "now": 3, "x": 9})})
	sum := math.Exp(1) + math.Exp(2) + 1
	a, b, c := math.Exp(1)/sum, math.Exp(2)/sum, 1/sum
	levels := 1 + math.Exp(1) + math.Exp(3)
	score := (math.Exp(1) + 2*math.Exp(3)) / levels
	for _, path := range []string{"/v1/decisions", "/decide"} {
		status, _, got := post(t, url+path, `{"model":"tiny","input":"some text","questions":[
			{"type":"choice","name":"which","instructions":"which one?","choices":[{"value":"a"},{"value":"b","description":"the second"},{"value":"c"}]},
			{"type":"predicate","instructions":"it is so"},
			{"type":"score","name":"s","instructions":[{"type":"input_text","text":"how much?"}],"levels":[{"label":"low"},{"label":"mid","description":"so so"},{"label":"high"}]}]}`)
		if status != 200 || got["model"] != "tiny" || at(got, "usage", "output_tokens") != 0.0 || at(got, "usage", "input_tokens").(float64) < 10 {
			t.Fatalf("%s: %d %v", path, status, got)
		}
		one := at(got, "answers", 0)
		if at(one, "type") != "choice" || at(one, "name") != "which" || at(one, "choice") != "b" || !near(at(one, "probabilities", 0, "probability"), a) ||
			!near(at(one, "probabilities", 1, "probability"), b) || !near(at(one, "probabilities", 2, "probability"), c) || at(one, "probabilities", 2, "value") != "c" || !near(at(one, "confidence"), (b-1.0/3)/(2.0/3)) {
			t.Errorf("%s: choice %v, want %g %g %g", path, one, a, b, c)
		}
		two := at(got, "answers", 1).(map[string]any)
		if name, there := two["name"]; two["type"] != "predicate" || !there || name != nil || !near(two["probability"], math.E/(math.E+1)) {
			t.Errorf("%s: predicate %v", path, two)
		}
		three := at(got, "answers", 2)
		if at(three, "type") != "score" || !near(at(three, "score"), score) || at(three, "probabilities", 1, "label") != "mid" || at(three, "probabilities", 1, "value") != 1.0 {
			t.Errorf("%s: score %v, want %g", path, three, score)
		}
		if (got["timings"] != nil) != (path == "/decide") {
			t.Errorf("%s: timings %v", path, got["timings"])
		}
	}

	status, _, got := post(t, url+"/v1/systemone", `{"state":{"message":"I was charged twice"},"questions":{
		"route":{"type":"choice","instructions":"which team?","criteria":{"b":null,"a":"the first","c":null}},
		"angry":{"type":"noul","instructions":"is the customer angry?","criteria":{"true":"shouts"}},
		"urgency":{"type":"score","instructions":"how urgent?","criteria":["can wait","today","now"]}}}`)
	if status != 200 || at(got, "answers", "route", "choice") != "b" || !near(at(got, "answers", "route", "probabilities", "a"), a) || at(got, "answers", "route", "type") != "choice" ||
		!near(at(got, "answers", "angry", "noul"), math.E/(math.E+1)) || at(got, "answers", "angry", "type") != "noul" ||
		!near(at(got, "answers", "urgency", "score"), score) || at(got, "answers", "urgency", "legend", "1") != "today" || !near(at(got, "answers", "urgency", "probabilities", "2"), math.Exp(3)/levels) ||
		at(got, "usage", "output_tokens") != 0.0 {
		t.Errorf("systemone: %d %v", status, got)
	}
	// An object is given to the model as JSON with spaces.
	var usages []any
	for _, state := range []string{`{"a":"x, \"y\": z","b":[1,2]}`, `"{\"a\": \"x, \\\"y\\\": z\", \"b\": [1, 2]}"`} {
		_, _, got := post(t, url+"/v1/systemone", `{"state":`+state+`,"questions":{"q":{"type":"noul","instructions":"x"}}}`)
		usages = append(usages, at(got, "usage", "input_tokens"))
	}
	if usages[0] == nil || usages[0] != usages[1] {
		t.Error(usages)
	}
}

// TestDecisionsOfLongAlternatives checks that alternatives of several tokens, one of
// which may be a prefix of another, are weighted by the tree of their tokens.
func TestDecisionsOfLongAlternatives(t *testing.T) {
	v := loadVocab(t)
	next := func(history []int32, row []float32) {
		for id := range row {
			row[id] = float32((len(history)*31+int(history[len(history)-1])*17+id*7)%13) / 4
		}
	}
	_, url := start(t, setup{next: next})
	texts := []string{"red", "redder", "green", "greenish blue", "yes"}
	var choices []string
	for _, text := range texts {
		choices = append(choices, fmt.Sprintf(`{"value":%q}`, text))
	}
	_, _, got := post(t, url+"/v1/decisions", `{"model":"tiny","input":"x","questions":[{"type":"choice","instructions":"which?","choices":[`+strings.Join(choices, ",")+`]}]}`)
	var ps []float64
	sum := 0.0
	for i := range texts {
		p, _ := at(got, "answers", 0, "probabilities", i, "probability").(float64)
		ps = append(ps, p)
		sum += p
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("they sum to %g: %v", sum, got)
	}
	// The naive way: at each token of each text, the probabilities of what follows
	// there. Of the prompt only the length and the last token matter, of which there
	// are few kinds.
	spelt := make([][]int32, len(texts))
	for i, text := range texts {
		spelt[i] = v.TokenizeText(nil, []byte(text))
	}
	plain := func(i, length, last int) float64 {
		p := 1.0
		for d := 0; d <= len(spelt[i]); d++ {
			weight := func(token int32) float64 {
				before := last
				if d > 0 {
					before = int(spelt[i][d-1])
				}
				return math.Exp(float64(((length+d)*31+before*17+int(token)*7)%13) / 4)
			}
			weights := map[int32]float64{} // by token; -1: the end
			for j := range texts {
				switch {
				case len(spelt[j]) < d || !slices.Equal(spelt[j][:d], spelt[i][:d]):
				case len(spelt[j]) > d:
					weights[spelt[j][d]] = weight(spelt[j][d])
				default:
					weights[-1] = 0
					for _, end := range v.EOG() {
						weights[-1] += weight(end)
					}
				}
			}
			total := 0.0
			for _, w := range weights {
				total += w
			}
			own := int32(-1)
			if d < len(spelt[i]) {
				own = spelt[i][d]
			}
			p *= weights[own] / total
		}
		return p
	}
	for length := range 13 {
		for last := range 13 {
			same := true
			for i, p := range ps {
				same = same && math.Abs(plain(i, length, last)-p) < 1e-5
			}
			if same {
				return
			}
		}
	}
	t.Errorf("no prompt gives %v", ps)
}

// TestDecisionsAreIndependent checks that a question has the same answer alone and
// beside others, that two orders give the mean of both, and that options that read
// alike are distinguished.
func TestDecisionsAreIndependent(t *testing.T) {
	_, url := start(t, setup{})
	ask := func(questions, more string) map[string]any {
		status, _, got := post(t, url+"/v1/decisions", `{"model":"tiny","input":[{"role":"system","content":"be fair"},{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_json","data":{"k":[1]}}]},
			{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"1","output":"done"},{"role":"assistant","content":[{"type":"output_text","text":"ok"}]}],"questions":[`+questions+`]`+more+`}`)
		if status != 200 {
			t.Fatalf("%d %v", status, got)
		}
		return got
	}
	const first, second = `{"type":"choice","instructions":"which?","choices":[{"value":"one"},{"value":"two"},{"value":"three"}]}`, `{"type":"choice","instructions":"which?","choices":[{"value":"three"},{"value":"two"},{"value":"one"}]}`
	alone, both := ask(first, ""), ask(second+","+first+`,{"type":"predicate","instructions":"so?"}`, "")
	reversed, mean := ask(second, ""), ask(first, `,"orders":2`)
	for i := range 3 {
		p := func(got map[string]any, question, i int) float64 {
			return at(got, "answers", question, "probabilities", i, "probability").(float64)
		}
		if !near(p(both, 1, i), p(alone, 0, i)) {
			t.Errorf("%d: %g alone, %g beside others", i, p(alone, 0, i), p(both, 1, i))
		}
		if want := (p(alone, 0, i) + p(reversed, 0, 2-i)) / 2; !near(p(mean, 0, i), want) {
			t.Errorf("%d: %g over both orders, want %g", i, p(mean, 0, i), want)
		}
	}
	typed := ask(`{"type":"choice","instructions":"which?","choices":[{"value":"true"},{"value":true},{"value":""}]}`, "")
	if at(typed, "answers", 0, "probabilities", 1, "value") != true || at(typed, "answers", 0, "probabilities", 0, "value") != "true" {
		t.Errorf("%v", typed)
	}
	many := make([]string, 255)
	for i := range many {
		many[i] = fmt.Sprintf(`{"value":"option %d"}`, i)
	}
	if got := ask(`{"type":"choice","instructions":"which?","choices":[`+strings.Join(many, ",")+`]}`, ""); len(at(got, "answers", 0, "probabilities").([]any)) != 255 {
		t.Errorf("%v", got)
	}
}

func TestBadDecisions(t *testing.T) {
	_, url := start(t, setup{})
	question := `{"type":"predicate","instructions":"so?"}`
	for _, c := range []struct{ path, body, param string }{
		{"/v1/decisions", `{}`, "input"},
		{"/v1/decisions", `{"input":5,"questions":[` + question + `]}`, "input"},
		{"/v1/decisions", `{"input":"x"}`, "questions"},
		{"/v1/decisions", `{"input":"x","questions":[]}`, "questions"},
		{"/v1/decisions", `{"input":"x","questions":[{}]}`, "questions[0].type"},
		{"/v1/decisions", `{"input":"x","questions":[{"type":"predicate"}]}`, "questions[0].instructions"},
		{"/v1/decisions", `{"input":"x","questions":[{"type":"predicate","instructions":"x","choices":[]}]}`, "questions[0].choices"},
		{"/v1/decisions", `{"input":"x","questions":[{"type":"choice","instructions":"x","choices":[{"value":"a"}]}]}`, "questions[0].choices"},
		{"/v1/decisions", `{"input":"x","questions":[{"type":"choice","instructions":"x","choices":[{"value":"a"},{"value":"a"}]}]}`, "questions[0].choices[1].value"},
		{"/v1/decisions", `{"input":"x","questions":[{"type":"choice","instructions":"x","choices":[{"value":"a"},{"value":1}]}]}`, "questions[0].choices[1].value"},
		{"/v1/decisions", `{"input":"x","questions":[{"type":"score","instructions":"x","levels":[{"label":"a"},{}]}]}`, "questions[0].levels[1].label"},
		{"/v1/decisions", `{"input":[{"role":"user","content":[{"type":"input_image","image_url":"data:"}]}],"questions":[` + question + `]}`, "input[0].content[0].type"},
		{"/v1/decisions", `{"input":"x","orders":3,"questions":[` + question + `]}`, "orders"},
		{"/v1/decisions", `{"input":"` + strings.Repeat("word ", 3000) + `","questions":[` + question + `]}`, ""},
		{"/v1/systemone", `{"questions":{"a":{"type":"noul","instructions":"x"}}}`, "state"},
		{"/v1/systemone", `{"state":"x","questions":{}}`, "questions"},
		{"/v1/systemone", `{"state":"x","questions":[1]}`, "questions"},
		{"/v1/systemone", `{"state":"x","questions":{"a":5}}`, "questions.a"},
		{"/v1/systemone", `{"state":"x","questions":{"a":{"type":"score","instructions":"x","criteria":["one"]}}}`, "questions.a.criteria"},
		{"/v1/systemone", `{"state":"x","images":["data:"],"questions":{"a":{"type":"noul","instructions":"x"}}}`, "images"},
	} {
		status, _, got := post(t, url+c.path, c.body)
		param, _ := at(got, "error", "param").(string)
		if status != 400 || c.param != "" && param != c.param {
			t.Errorf("%s %.90s: %d %v", c.path, c.body, status, got)
		}
	}
}
