package server

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/remote"
)

// partsOf returns what the parts of a stream hold in members of these names, each part that has any.
func partsOf(t *testing.T, url, body string, names ...string) (out []string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %v %d %s", url, err, resp.StatusCode, raw)
	}
	var find func(v any) string
	find = func(v any) string {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range names {
				if s, ok := v[name].(string); ok {
					return s
				}
			}
			for _, one := range v {
				if s := find(one); s != "" {
					return s
				}
			}
		case []any:
			for _, one := range v {
				if s := find(one); s != "" {
					return s
				}
			}
		}
		return ""
	}
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "data: ")
		var v map[string]any
		if json.Unmarshal([]byte(line), &v) != nil || strings.Contains(line, `"type":"response.completed"`) || strings.Contains(line, ".done") || strings.Contains(line, `"constraint"`) {
			continue
		}
		if s := find(v); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Each value of a document and of the arguments of a call comes in a delta of its own, however much of it is forced and however
// fast it comes.
func TestStreamsOfValues(t *testing.T) {
	const values = 12
	var properties, required []string
	for i := range values {
		properties = append(properties, fmt.Sprintf(`"name%d": {"const": "a, \"b\", %d"}`, i, i))
		required = append(required, fmt.Sprintf(`"name%d"`, i))
	}
	schema := `{"type": "object", "properties": {` + strings.Join(properties, ", ") + `}, "required": [` + strings.Join(required, ", ") + `], "additionalProperties": false}`
	var document []string
	for i := range values {
		document = append(document, fmt.Sprintf(`"name%d": "a, \"b\", %d"`, i, i))
	}
	whole := "{" + strings.Join(document, ", ") + "}"
	_, local := start(t, setup{})
	_, far := startUpstream(t, remote.Capabilities{Engine: remote.OpenAI, JSONSchema: true, Tools: true}, Config{}, "!calls |run "+whole)
	const messages = `"messages": [{"role": "user", "content": "x"}], "stream": true, "max_tokens": 900, `
	function := `"tools": [{"type": "function", "function": {"name": "run", "parameters": ` + schema + `}}], "tool_choice": "required"`
	for name, c := range map[string]struct {
		url, body string
		members   []string
	}{
		"chat":             {local + "/v1/chat/completions", `{` + messages + `"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": ` + schema + `}}}`, []string{"content"}},
		"generate":         {local + "/generate_json", `{` + messages + `"schema": ` + schema + `}`, []string{"text"}},
		"generate logprob": {local + "/generate_json", `{` + messages + `"logprobs": true, "schema": ` + schema + `}`, []string{"text"}},
		"ollama":           {local + "/api/generate", `{"model": "tiny", "prompt": "x", "format": ` + schema + `, "options": {"num_predict": 900}}`, []string{"response"}},
		"llama-server":     {local + "/completion", `{"prompt": "x", "stream": true, "n_predict": 900, "json_schema": ` + schema + `}`, []string{"content"}},
		"responses":        {local + "/v1/responses", `{"input": "x", "stream": true, "max_output_tokens": 900, "text": {"format": {"type": "json_schema", "name": "a", "schema": ` + schema + `}}}`, []string{"delta"}},
		"chat calls":       {local + "/v1/chat/completions", `{` + messages + function + `}`, []string{"arguments"}},
		"anthropic calls":  {local + "/v1/messages", `{"model": "tiny", ` + messages + `"tools": [{"name": "run", "input_schema": ` + schema + `}], "tool_choice": {"type": "any"}}`, []string{"partial_json"}},
		"responses calls":  {local + "/v1/responses", `{"input": "x", "stream": true, "max_output_tokens": 900, "tools": [{"type": "function", "name": "run", "parameters": ` + schema + `}], "tool_choice": "required"}`, []string{"delta"}},
		"upstream calls":   {far + "/v1/chat/completions", `{` + messages + function + `}`, []string{"arguments"}},
	} {
		parts := partsOf(t, c.url, c.body, c.members...)
		var got map[string]string
		if all := strings.Join(parts, ""); json.Unmarshal([]byte(all), &got) != nil || len(got) != values || got["name7"] != `a, "b", 7` {
			t.Errorf("%s: %q", name, all)
		}
		if len(parts) < values {
			t.Errorf("%s: %d deltas: %q", name, len(parts), parts)
		}
	}
}
