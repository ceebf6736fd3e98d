package server

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/embedding"
)

// TestRerankTexts checks the form of Text Embeddings Inference, which has
// texts, and a list as answer.
func TestRerankTexts(t *testing.T) {
	_, url := startEmbedding(t, scripted.EmbedOptions{}, embedding.Config{})
	for body, want := range map[string]string{
		`"texts": ["a dog", "the cat"]`:                                            `[{"index":1,"score":1},{"index":0,"score":0}]`,
		`"texts": ["a dog", "the cat"], "top_n": 1, "return_text": true`:           `[{"index":1,"score":1,"text":"the cat"}]`,
		`"texts": ["a dog"], "raw_scores": false, "truncation_direction": "Right"`: `[{"index":0,"score":0.5}]`,
		`"texts": ["a dog"], "truncation_direction": "Left"`:                       `truncation_direction must be`,
		`"texts": []`:                                 `texts is required and must not be empty`,
		`"documents": ["a dog"], "texts": ["b"]`:      `texts has no meaning beside documents`,
		`"documents": ["a dog"], "raw_scores": false`: `raw_scores has no meaning beside documents`,
		`"texts": ["a", 1]`:                           `texts[1] must be a string`,
	} {
		if _, _, got := send(t, "POST", url+"/rerank", `{"model": "ranks", "query": "the cat", `+body+`}`); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

func TestRerank(t *testing.T) {
	_, url := startEmbedding(t, scripted.EmbedOptions{}, embedding.Config{})
	const documents = `"documents": ["a dog", {"text": "the cat is here"}, "the cat", "the dog"]`
	status, _, got := post(t, url+"/v1/rerank", `{"model": "ranks", "query": "the cat", `+documents+`}`)
	if status != 200 || got["model"] != "ranks" || got["object"] != "list" {
		t.Fatalf("%d %v", status, got)
	}
	for _, path := range []string{"/reranking", "/v1/reranking"} { // as llama-server has it
		if status, _, again := post(t, url+path, `{"model": "ranks", "query": "the cat", `+documents+`}`); status != 200 || !reflect.DeepEqual(again["results"], got["results"]) {
			t.Errorf("%s: %d %v", path, status, again)
		}
	}
	order := func(got map[string]any) (out []string) {
		for _, one := range got["results"].([]any) {
			one := one.(map[string]any)
			line := fmt.Sprintf("%v %.1f", one["index"], one["relevance_score"])
			if d, ok := one["document"]; ok {
				line += fmt.Sprint(" ", at(d.(map[string]any), "text"))
			}
			out = append(out, line)
		}
		return out
	}
	// Equal scores keep their order.
	v := loadWords(t)
	shared := float64(len(v.Tokenize(nil, "the", false))) / float64(len(v.Tokenize(nil, "the cat", false)))
	if list := order(got); len(list) != 4 || list[0] != "1 1.0" || list[1] != "2 1.0" || list[2] != fmt.Sprintf("3 %.1f", shared) {
		t.Error(list)
	}
	ends := len(v.Encode(""))
	tokens := 0
	for _, d := range []string{"a dog", "the cat is here", "the cat", "the dog"} {
		tokens += ends + 1 + len(v.Tokenize(nil, "the cat", false)) + len(v.Tokenize(nil, d, false))
	}
	if at(got, "usage", "prompt_tokens") != float64(tokens) || at(got, "usage", "total_tokens") != float64(tokens) {
		t.Errorf("usage %v, want %d", got["usage"], tokens)
	}
	_, _, got = post(t, url+"/rerank", `{"model": "ranks", "query": "the cat", "top_n": 2, "return_documents": true, `+documents+`}`)
	if list := order(got); strings.Join(list, "; ") != "1 1.0 the cat is here; 2 1.0 the cat" {
		t.Error(list)
	}
	if _, _, got = post(t, url+"/rerank", `{"model": "ranks", "query": "the cat", "top_n": 99, `+documents+`}`); len(order(got)) != 4 {
		t.Error(order(got))
	}
	long := strings.Repeat("cat ", 60)
	if status, _, got = post(t, url+"/rerank", `{"model": "ranks", "query": "the", "documents": ["`+long+`"], "truncate": true}`); status != 200 || at(got, "usage", "prompt_tokens") != 24.0 {
		t.Errorf("%d %v", status, got)
	}
	many := `["a"` + strings.Repeat(`,"a"`, embedding.MaxInputs) + `]`
	for _, c := range []struct{ body, param, code, message string }{
		{`{"query": "a"}`, "documents", "invalid_value", "documents is required"},
		{`{"query": "a", "documents": []}`, "documents", "invalid_value", "must not be empty"},
		{`{"documents": ["a"]}`, "query", "invalid_value", "query is required"},
		{`{"query": "", "documents": ["a"]}`, "query", "invalid_value", "query is required and must not be empty"},
		{`{"query": 5, "documents": ["a"]}`, "query", "invalid_value", "query must be a string, not 5"},
		{`{"query": "a", "documents": "b"}`, "documents", "invalid_value", "documents must be an array"},
		{`{"query": "a", "documents": ["b", 7]}`, "documents[1]", "invalid_value", "must be a string or an object with a text, not 7"},
		{`{"query": "a", "documents": ["b", null]}`, "documents[1]", "invalid_value", "not null"},
		{`{"query": "a", "documents": [{"txt": "b"}]}`, "documents[0].txt", "unknown_field", "was text meant?"},
		{`{"query": "a", "documents": [{}]}`, "documents[0].text", "invalid_value", "documents[0].text is required"},
		{`{"query": "a", "documents": [{"text": 1}]}`, "documents[0].text", "invalid_value", "must be a string"},
		{`{"query": "a", "documents": ["b"], "top_n": 0}`, "top_n", "invalid_value", "top_n must be between 1"},
		{`{"query": "a", "documents": ["b"], "rank_fields": ["title"]}`, "rank_fields", "not_offered", "rank_fields"},
		{`{"query": "a", "documents": ["b", "` + long + `"]}`, "documents[1]", "context_length_exceeded", "this model's maximum context length is 24 tokens"},
		{`{"query": "` + long + `", "documents": ["b"], "truncate": true}`, "documents[0]", "context_length_exceeded", "24 tokens"},
		{`{"query": "a", "documents": ` + many + `}`, "documents", "too_many_inputs", "documents has 2049 inputs"},
		{`{"query": "a", "documents": ["b"], "model": "vectors"}`, "model", "model_not_capable", `the model "vectors" gives embeddings; it does not rerank documents`},
		{`{"query": "a", "documents": ["b"], "model": "tiny"}`, "model", "model_not_capable", `the model "tiny" generates text; it does not rerank documents`},
	} {
		body := c.body
		if !strings.Contains(body, `"model"`) {
			body = `{"model": "ranks", ` + body[1:]
		}
		status, _, got := post(t, url+"/v1/rerank", body)
		message, _ := at(got, "error", "message").(string)
		if status != 400 || at(got, "error", "param") != c.param || at(got, "error", "code") != c.code || !strings.Contains(message, c.message) {
			t.Errorf("%.80s: %d %v", body, status, got["error"])
		}
	}
}
