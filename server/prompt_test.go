package server

import (
	"strings"
	"sync"
	"testing"
)

// What the model reads, for every way to give a prompt.
func TestPrompts(t *testing.T) {
	v := loadVocab(t)
	var mu sync.Mutex
	var read string
	_, url := start(t, setup{next: func(history []int32, logits []float32) {
		var b strings.Builder
		for _, id := range history {
			b.WriteString(v.Piece(id))
		}
		mu.Lock()
		read = b.String()
		mu.Unlock()
		logits[v.EOG()[0]] = 50
	}})
	const (
		schema      = `"schema": {"const": [1, 2]}, "forced": false, "temperature": 0`
		instruction = "Answer with JSON that fits this JSON Schema, and nothing else:\n{\"const\":[1,2]}"
	)
	for _, test := range []struct{ body, want string }{
		{`"prompt": "The end"`, "The end"},
		{`"prompt": "Hi", "system": "Be brief."`, "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"},
		{`"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}, {"role": "user", "content": "Well"}]`,
			"<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nYes?<|im_end|>\n<|im_start|>user\nWell<|im_end|>\n<|im_start|>assistant\n"},
		{`"messages": [{"role": "system", "content": "B"}, {"role": "user", "content": "Hi"}], "system": "A"`,
			"<|im_start|>system\nA\n\nB<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"},

		{`"prompt": "The end", ` + schema, "The end"},
		{`"prompt": "The end", "prompt_schema": "always", ` + schema, instruction + "\n\nThe end"},
		{`"messages": [{"role": "user", "content": "Hi"}], ` + schema,
			"<|im_start|>system\n" + instruction + "<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"},
		{`"messages": [{"role": "user", "content": "Hi"}], "system": "A", ` + schema,
			"<|im_start|>system\nA\n\n" + instruction + "<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"},
		{`"messages": [{"role": "user", "content": "Hi"}], "prompt_schema": "never", ` + schema,
			"<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"},
	} {
		status, _, got := post(t, url+"/generate", `{"max_tokens": 20, `+test.body+`}`)
		mu.Lock()
		prompt, found := strings.CutPrefix(read, test.want)
		mu.Unlock()
		// What was generated follows.
		if status != 200 || !found || !strings.HasPrefix("[1,2]", prompt) || got["warnings"] != nil {
			t.Errorf("%s: the model read %q, want %q; %v", test.body, read, test.want, got)
		}
	}
}
