package server

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/engine/promptcache"
	"github.com/stencil-json/stencil/server/access"
)

// TestPromptCacheOverHTTP checks that conversations are stored by their parts:
// after a restart, the system text and tools are reused rather than decoded again,
// also by models that can't remove tokens from a sequence.
func TestPromptCacheOverHTTP(t *testing.T) {
	dir := t.TempDir()
	run := func(opt scripted.Options, cached bool) (ask func(system, question string) (prompt, reused float64), end func() string) {
		t.Helper()
		var cfg engine.Config
		stop := func() {}
		if cached {
			store, err := promptcache.Open(dir, 1<<30, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			cfg.PromptCache = store
			stop = func() { store.Close() }
		}
		_, url := start(t, setup{opt: opt, eng: cfg})
		ask = func(system, question string) (float64, float64) {
			t.Helper()
			status, _, got := post(t, url+"/v1/chat/completions", fmt.Sprintf(
				`{"messages": [{"role": "system", "content": %q}, {"role": "user", "content": %q}], "max_tokens": 5,
				"tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}], "tool_choice": "none"}`, system, question))
			if status != 200 {
				t.Fatalf("%d %v", status, got)
			}
			return at(got, "usage", "prompt_tokens").(float64), at(got, "usage", "prompt_tokens_details", "cached_tokens").(float64)
		}
		return ask, func() string {
			stop()
			_, _, metrics := send(t, "GET", url+"/metrics", "")
			return metrics
		}
	}
	system, question := strings.Repeat("Be as brief as you can. ", 60), strings.Repeat("Is that so? ", 10)
	ask, end := run(scripted.Options{}, true)
	if all, n := ask(system, question); n != 0 || all < 300 {
		t.Fatalf("%v of %v tokens cached at first", n, all)
	}
	end()
	for _, recurrent := range []bool{false, true} {
		ask, end := run(scripted.Options{Recurrent: recurrent}, true)
		all, n := ask(system, strings.Repeat("What then? ", 10))
		if n < all-100 || n > all-20 {
			t.Errorf("after a restart %v of %v tokens cached", n, all)
		}
		if metrics := end(); !strings.Contains(metrics, fmt.Sprintf("stencil_stored_tokens_total{model=\"tiny\"} %v\n", n)) {
			t.Errorf("%v tokens are not in the metrics:\n%s", n, metrics)
		}
	}
	ask, end = run(scripted.Options{Recurrent: true}, false)
	ask(system, question)
	all, n := ask(system, strings.Repeat("What then? ", 10))
	if n < all-100 || n > all-20 {
		t.Errorf("by a checkpoint %v of %v tokens cached", n, all)
	}
	if metrics := end(); !strings.Contains(metrics, fmt.Sprintf("stencil_checkpoint_tokens_total{model=\"tiny\"} %v\n", n)) {
		t.Errorf("%v tokens are not in the metrics:\n%s", n, metrics)
	}
}

// TestPromptsOfOthers checks that a client learns nothing of another's prompts from what is cached, on each path that tells it.
func TestPromptsOfOthers(t *testing.T) {
	text := strings.Repeat("The code is 4711. ", 40)
	for _, apart := range []bool{true, false} {
		_, url := start(t, setup{reply: "fine", eng: engine.Config{Apart: apart}, cfg: Config{Access: access.Config{Keys: []string{"ann", "bob"}}}})
		for _, c := range []struct{ path, body, cached string }{
			{"/v1/chat/completions", `{"messages": [{"role": "user", "content": %q}], "max_tokens": 3}`, "usage prompt_tokens_details cached_tokens"},
			{"/v1/completions", `{"prompt": %q, "max_tokens": 3}`, "usage prompt_tokens_details cached_tokens"},
			{"/v1/responses", `{"input": %q, "max_output_tokens": 16}`, "usage input_tokens_details cached_tokens"},
			{"/v1/messages", `{"model": "tiny", "messages": [{"role": "user", "content": %q}], "max_tokens": 3}`, "usage cache_read_input_tokens"},
			{"/completion", `{"prompt": %q, "n_predict": 3}`, "timings cache_n"},
			{"/generate", `{"prompt": %q, "max_tokens": 3}`, "usage prompt_tokens_details cached_tokens"},
		} {
			ask := func(key string) float64 {
				status, got := sendAs(t, "POST", url+c.path, key, fmt.Sprintf(c.body, c.path+text))
				var path []any
				for _, name := range strings.Fields(c.cached) {
					path = append(path, name)
				}
				n, ok := at(got, path...).(float64)
				if status != 200 || !ok {
					t.Fatalf("%s: %d %v", c.path, status, got)
				}
				return n
			}
			first, other, own := ask("ann"), ask("bob"), ask("ann")
			if other > 20 == apart || own < first+300 { // a template's beginning is no secret
				t.Errorf("apart %v, %s: %v cached at first, %v for another key, %v for the same", apart, c.path, first, other, own)
			}
		}
	}
}
