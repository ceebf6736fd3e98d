package example

import (
	"strings"
	"testing"
)

func TestSchema(t *testing.T) {
	for _, c := range []struct {
		docs []string
		want string
	}{
		{[]string{`{"id": 7, "name": "Ann", "tags": ["a", "b"], "ok": true}`},
			`{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}},"ok":{"type":"boolean"}},"required":["id","name","tags","ok"],"additionalProperties":false}`},
		{[]string{`[{"a": 1}, {"a": 1.5, "b": null}]`},
			`{"type":"array","items":{"type":"object","properties":{"a":{"type":"number"},"b":{}},"required":["a"],"additionalProperties":false}}`},
		{[]string{`{"a": null}`, `{"a": "x"}`}, `{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"],"additionalProperties":false}`},
		{[]string{`{}`}, `{"type":"object","properties":{},"additionalProperties":false}`},
		{[]string{`[1, "a", []]`}, `{"type":"array","items":{"type":["array","string","integer"]}}`},
		{[]string{`1.0`, `1.5e3`}, `{"type":"integer"}`},
		{[]string{`1e999999999`}, `{"type":"number"}`},
		{[]string{`null`}, `{}`},
		{[]string{`{"<ü\"": 1}`}, `{"type":"object","properties":{"<ü\"":{"type":"integer"}},"required":["<ü\""],"additionalProperties":false}`},
	} {
		docs := make([][]byte, len(c.docs))
		for i, d := range c.docs {
			docs[i] = []byte(d)
		}
		got, err := Schema(docs...)
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\n%s, %v, want\n%s", c.docs, got, err, c.want)
		}
	}
	for doc, want := range map[string]string{`{"a": }`: "1:7", `{"a": 1, "a": 2}`: "1:10", strings.Repeat("[", 300): "deep"} {
		if _, err := Schema([]byte(doc)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %v", doc, err)
		}
	}
	if _, err := Schema(); err == nil {
		t.Error("no document")
	}
}
