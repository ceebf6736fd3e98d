//go:build llama && cgo

package binary

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A record is what a server acknowledged before it was killed.
type record struct {
	mu        sync.Mutex
	responses map[string]string // texts, by id
	outcomes  int
	slots     map[string]bool // names of files
}

// ask sends a request. ok is false if no whole answer came, as from a server that has been killed.
func ask(method, url, body string) (a answer, ok bool) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return a, false
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return a, false
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return a, false
	}
	a = answer{status: resp.StatusCode, raw: string(raw)}
	return a, json.Unmarshal(raw, &a.body) == nil
}

// load writes to everything that a server keeps until it is killed, which enough does once there are that many of each
// record. unsure is how many outcomes may have been kept without an acknowledgement.
func (r *record) load(t *testing.T, s *server, round int, enough func()) (unsure int) {
	var clients sync.WaitGroup
	const least = 8
	left := 3
	var reached sync.Mutex
	done := func() {
		reached.Lock()
		defer reached.Unlock()
		if left--; left == 0 {
			enough()
		}
	}
	client := func(one func(i int) (ok bool)) {
		clients.Go(func() {
			for i := 0; one(i); i++ {
				if i == least {
					done()
				}
			}
		})
	}
	refused := func(a answer) bool {
		if a.status != http.StatusOK {
			t.Errorf("round %d: %v", round, a)
		}
		return a.status != http.StatusOK
	}
	client(func(i int) bool {
		a, ok := ask(http.MethodPost, s.url+"/v1/responses", fmt.Sprintf(`{"model": "tiny", "input": "round %d, number %d", "max_output_tokens": 3}`, round, i))
		if !ok || refused(a) {
			return false
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.responses[a.text("id")] = a.text("output", 0, "content", 0, "text")
		return true
	})
	client(func(i int) bool {
		r.mu.Lock()
		unsure = 1
		r.mu.Unlock()
		a, ok := ask(http.MethodPost, s.url+"/feedback", `{"model": "tiny", "confidence": 0.5, "success": true}`)
		if !ok || refused(a) {
			return false
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.outcomes, unsure = r.outcomes+1, 0
		return true
	})
	client(func(i int) bool {
		if a, ok := ask(http.MethodPost, s.url+"/generate", fmt.Sprintf(`{"prompt": "round %d, slot %d", "max_tokens": 2}`, round, i)); !ok || refused(a) {
			return false
		}
		name := fmt.Sprintf("slot-%d-%d", round, i)
		a, ok := ask(http.MethodPost, s.url+"/slots/0?action=save", fmt.Sprintf(`{"filename": %q}`, name))
		if !ok || refused(a) {
			return false
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.slots[name] = true
		return true
	})
	clients.Wait()
	return unsure
}

// check asks a server for all that was acknowledged.
func (r *record) check(t *testing.T, s *server, unsure int) {
	t.Helper()
	for id, text := range r.responses {
		if a, ok := ask(http.MethodGet, s.url+"/v1/responses/"+id, ""); !ok || a.status != http.StatusOK || a.text("output", 0, "content", 0, "text") != text {
			t.Errorf("a response is lost: %v, want %q", a, text)
		}
	}
	a, _ := ask(http.MethodGet, s.url+"/feedback?model=tiny", "")
	count, _ := a.at("count").(float64)
	if int(count) < r.outcomes || int(count) > r.outcomes+unsure {
		t.Errorf("%v outcomes of %d and perhaps %d: %v", count, r.outcomes, unsure, a)
	}
	r.outcomes = int(count)
	for name := range r.slots {
		if a, ok := ask(http.MethodPost, s.url+"/slots/0?action=restore", fmt.Sprintf(`{"filename": %q}`, name)); !ok || a.status != http.StatusOK {
			t.Errorf("the slot %s is lost: %v", name, a)
		}
	}
}

// TestKilled checks that a server that is killed while it writes starts again with its files, several times, that what it
// had acknowledged is there, and that nothing half-written is in the way.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	slots := filepath.Join(dir, "slots")
	if err := os.Mkdir(slots, 0o700); err != nil {
		t.Fatal(err)
	}
	args := []string{
		"--model", tiny(t), "--alias", "tiny", "--prompt-cache", filepath.Join(dir, "prompts"), "--slot-save-path", slots,
		"--responses-store", filepath.Join(dir, "responses.db"), "--feedback", filepath.Join(dir, "feedback.db"),
	}
	r := &record{responses: map[string]string{}, slots: map[string]bool{}}
	unsure := 0
	for round := range 4 {
		s, err := start(nil, args...)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		r.check(t, s, unsure)
		unsure = r.load(t, s, round, func() { s.cmd.Process.Kill() })
		s.cmd.Wait()
	}
	s := serve(t, args...)
	r.check(t, s, unsure)
	if strings.Contains(s.logged(), "damaged") {
		t.Error(s.logged())
	}
	t.Logf("%d responses, %d outcomes, %d slots", len(r.responses), r.outcomes, len(r.slots))
}
