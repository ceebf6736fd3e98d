package server

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/poll"
	"github.com/stencil-json/stencil/server/access"
)

// postAs posts a body with an API key.
func postAs(t testing.TB, key, url string, body io.Reader) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
	if err != nil {
		t.Error(err)
		return nil
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return nil
	}
	return resp
}

// waiting is a reader that ends when the channel is closed.
type waiting chan struct{}

func (w waiting) Read([]byte) (int, error) {
	<-w
	return 0, io.EOF
}

// TestBodiesTogether checks that a small request is answered beside clients that hold as much as they can with bodies that
// they don't end, and that these are told so, or answered.
func TestBodiesTogether(t *testing.T) {
	keys := []string{"honest"}
	for i := range 8 {
		keys = append(keys, fmt.Sprint("hostile", i))
	}
	srv, url := start(t, setup{cfg: Config{MemoryLimit: 64 << 20, Access: access.Config{Keys: keys}}}) // 16 MiB of bodies
	held := func() int64 {
		srv.memory.mu.Lock()
		defer srv.memory.mu.Unlock()
		return srv.memory.held
	}
	check := func(what, key, body string, want int) {
		t.Helper()
		resp := postAs(t, key, url+"/generate", strings.NewReader(body))
		if resp == nil {
			return
		}
		answer := decoded(t, resp)
		if resp.StatusCode != want {
			t.Errorf("%s: status %d, %v", what, resp.StatusCode, answer)
		}
		if want == http.StatusServiceUnavailable && (resp.Header.Get("Retry-After") == "" || at(answer, "error", "code") != "out_of_memory") {
			t.Errorf("%s: %v, %v", what, resp.Header, answer)
		}
	}
	const rest = `{"prompt": "x", "max_tokens": 2}`
	large, small := strings.Repeat(" ", 500<<10), strings.Repeat(" ", 100<<10)+rest
	for _, clients := range []int{1, 2, 3, 8} {
		end := make(chan struct{})
		var withheld []chan int // their statuses
		for _, key := range keys[1 : 1+clients] {
			for range 12 {
				status := make(chan int, 1)
				withheld = append(withheld, status)
				go func() {
					if resp := postAs(t, key, url+"/generate", io.MultiReader(strings.NewReader(large), waiting(end), strings.NewReader(rest))); resp != nil {
						resp.Body.Close()
						status <- resp.StatusCode
					}
					close(status)
				}()
			}
		}
		poll.Until(func() bool { // until all have been read as far as they go
			reading, unanswered := 0, 0
			for _, status := range withheld {
				if len(status) == 0 {
					unanswered++
				}
			}
			srv.memory.mu.Lock()
			defer srv.memory.mu.Unlock()
			for _, h := range srv.memory.clients {
				reading += len(h.reading)
			}
			return reading == unanswered && srv.memory.held > srv.memory.limit/5
		})
		for range 3 {
			check(fmt.Sprintf("beside %d clients", clients), "honest", small, http.StatusOK)
		}
		statuses := map[int]int{}
		close(end)
		for _, status := range withheld {
			statuses[<-status]++
		}
		if n := statuses[http.StatusOK] + statuses[http.StatusServiceUnavailable]; n != len(withheld) {
			t.Errorf("%d clients: statuses %v", clients, statuses)
		}
		poll.Until(func() bool { return held() == 0 })
	}
	check("afterwards", "hostile0", large+rest, http.StatusOK)
	// Bodies that never fit: one is refused before it is read.
	check("one that is too large", "honest", strings.Repeat(" ", int(srv.memory.largest())+1)+rest, http.StatusRequestEntityTooLarge)
	check("one with too many values", "honest", `{"prompt": [`+strings.Repeat("[],", 30_000)+`[]]}`, http.StatusRequestEntityTooLarge)
	poll.Until(func() bool { return held() == 0 })
	srv.memory.mu.Lock()
	defer srv.memory.mu.Unlock()
	if n := len(srv.memory.clients); n > 0 {
		t.Errorf("%d clients are remembered", n)
	}
}

// Bodies that are complete are not broken off, so a client may hold a part only of what the others leave.
func TestBodiesInWork(t *testing.T) {
	m := &memory{limit: 64 << 20}
	hold := func(client string, size int64) (int64, error) {
		c := &charged{body: strings.NewReader(strings.Repeat(" ", int(size))), memory: m, client: client}
		n, err := io.Copy(io.Discard, c)
		if err == nil {
			err = c.complete()
		}
		if err != nil {
			c.release()
		}
		return n, err
	}
	for i := range 8 {
		for size := m.largest(); size > 1000; {
			if _, err := hold(fmt.Sprint(i), size); err != nil {
				if !errors.As(err, new(errNoMemory)) {
					t.Fatal(err)
				}
				size /= 2
			}
		}
	}
	if n, err := hold("honest", 150<<10); err != nil {
		t.Errorf("%d bytes: %v, %d of %d bytes are held", n, err, m.held, m.limit)
	}
	if m.held > m.limit {
		t.Errorf("%d of %d bytes are held", m.held, m.limit)
	}
}

// Pieces of a body cost no more than the body at once, and a value is counted wherever it is divided.
func TestBodyInPieces(t *testing.T) {
	const text = `{"messages": [{"role": "user", "content": "a \\\", [1, {\"x\": 2}]"}, {"n": [1, 2]}], "other": "\\"}`
	whole := new(charged)
	whole.count([]byte(text))
	want := int64(bodyCost*len(text) + 3*objectCost + 2*arrayCost + 4*valueCost + 2*quotedObjectCost + 2*quotedValueCost)
	if whole.cost != want {
		t.Errorf("cost %d, want %d", whole.cost, want)
	}
	c := &charged{body: iotest.OneByteReader(strings.NewReader(text)), memory: &memory{limit: 1 << 20}, client: "one"}
	if _, err := io.Copy(io.Discard, c); err != nil || c.cost != want || c.taken != (want+bodyStep-1)/bodyStep*bodyStep {
		t.Errorf("cost %d, want %d; %d taken, %v", c.cost, want, c.taken, err)
	}
}

// The memory that decoding and rendering a body takes is what it is charged for, in every dialect.
func TestBodyCosts(t *testing.T) {
	_, url := start(t, setup{cfg: Config{MemoryLimit: 8 << 30}})
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	const n, slack = 10_000, 3 << 20
	list := func(item string) string { return strings.Repeat(item+",", n-1) + item }
	message := list(`{"role":"user","content":"x"}`)
	for name, c := range map[string]struct{ path, body string }{
		"OpenAI":           {"/v1/chat/completions", `{"messages":[` + message + `]}`},
		"OpenAI, parts":    {"/v1/chat/completions", `{"messages":[{"role":"user","content":[` + list(`{"type":"text","text":"x"}`) + `]}]}`},
		"OpenAI, calls":    {"/v1/chat/completions", `{"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[` + list(`{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}`) + `]},{"role":"user","content":"x"}]}`},
		"OpenAI, argument": {"/v1/chat/completions", `{"messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"a\":[` + list(list(`1`)[:20]) + `]}"}}]},{"role":"user","content":"x"}]}`},
		"OpenAI, tool":     {"/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"enum":[` + list(`{}`) + `]}}}]}`},
		"Anthropic":        {"/v1/messages", `{"model":"tiny","max_tokens":5,"messages":[` + message + `]}`},
		"Anthropic, parts": {"/v1/messages", `{"model":"tiny","max_tokens":5,"messages":[{"role":"user","content":[` + list(`{"type":"text","text":"x"}`) + `]}]}`},
		"Ollama":           {"/api/chat", `{"model":"tiny","messages":[` + message + `]}`},
		"Responses":        {"/v1/responses", `{"input":[` + message + `]}`},
		"Responses, calls": {"/v1/responses", `{"input":[` + list(`{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"x"}`) + `]}`},
		"Responses, other": {"/v1/responses", `{"input":[` + list(`{"type":"x"}`) + `]}`},
		"native, schema":   {"/generate_json", `{"prompt":"a","schema":{"enum":[` + list(`[1]`) + `]}}`},
	} {
		charge := new(charged)
		charge.count([]byte(c.body))
		status, grown := 0, int64(math.MaxInt64)
		for try := 0; try < 5 && grown > charge.cost+slack; try++ { // on a busy machine the collector may fall behind
			var before runtime.MemStats
			runtime.GC()
			runtime.GC()
			runtime.ReadMemStats(&before)
			most := largestHeap()
			status, _, _ = post(t, url+c.path, c.body)
			grown = min(grown, int64(most())-int64(before.HeapAlloc))
		}
		t.Logf("%s: %d KiB of %d KiB", name, grown>>10, charge.cost>>10)
		if grown > charge.cost+slack {
			t.Errorf("%s: status %d, %d MiB for a body of %d KiB, charged %d MiB", name, status, grown>>20, len(c.body)>>10, charge.cost>>20)
		}
	}
}

// A prompt that can't fit is refused without being tokenized.
func TestPromptFarTooLong(t *testing.T) {
	srv, url := start(t, setup{eng: engine.Config{Context: backend.ContextParams{Size: 100}}})
	longest := srv.models.SomeServed().Text.Vocab().Trie().Depth
	text := strings.Repeat("x", max(101*longest, 1<<20+1))
	for path, body := range map[string]string{
		"/generate":            `{"prompt": "` + text + `"}`,
		"/v1/chat/completions": `{"messages": [{"role": "user", "content": "` + text + `"}]}`,
	} {
		status, _, answer := post(t, url+path, body)
		if status != http.StatusBadRequest || at(answer, "error", "code") != "context_length_exceeded" || !strings.Contains(at(answer, "error", "message").(string), "more than") {
			t.Errorf("%s: status %d, %v", path, status, answer)
		}
	}
}
