package native

import (
	"testing"

	"github.com/stencil-json/stencil/server/wire"
)

func FuzzReadNative(f *testing.F) {
	for _, s := range []string{
		`{"prompt": "x"}`, `{"messages": [{"role": "user", "content": "x"}], "n": 2, "seed": -1}`, `{"prompt": "x", "json_mode": {"schema": {}, "whitespace": {"max": 3}}}`,
		`{"prompt": "x", "logit_bias": {"1": -100}, "stop": ["a"], "top_p": 0}`, `{"a": {"b": [1, 2, {}]}}`, "\xff", `{"prompt": "\ud800"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := wire.ParseObject(body, "")
		if err != nil {
			return
		}
		q, err := readNative(o)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without a message")
			}
			return
		}
		if (q.Prompt == nil) == (q.Messages == nil) || q.N < 1 || q.MaxTokens < 0 {
			t.Errorf("%+v", q)
		}
	})
}
