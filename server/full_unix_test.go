//go:build unix

package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/engine/promptcache"
	"github.com/stencil-json/stencil/internal/poll"
	"github.com/stencil-json/stencil/server/access"
)

// fullVariable makes TestFullDisk run in this process, whose writes to files can be made to fail.
const fullVariable = "STENCIL_FULL_DISK_CHILD"

// TestFullDisk checks that the server goes on answering while nothing can be written, says which of its files that
// concerns, and writes again as soon as it can. It runs in a process of its own: a limit on the size of files stands
// for the full disk.
func TestFullDisk(t *testing.T) {
	if os.Getenv(fullVariable) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFullDisk$", "-test.v")
		cmd.Env = append(os.Environ(), fullVariable+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestFullDisk") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	most := limit.Cur
	full := func(yes bool) {
		t.Helper()
		if limit.Cur = most; yes {
			limit.Cur = 1
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
	}

	dir, text := t.TempDir(), new(lockedBuffer)
	log := slog.New(slog.NewTextHandler(text, nil))
	prompts, err := promptcache.Open(filepath.Join(dir, "prompts"), 1<<30, log)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Log: log, Feedback: filepath.Join(dir, "feedback.db"), ResponsesFile: filepath.Join(dir, "responses.db"), SlotFolder: dir}
	srv, url := start(t, setup{reply: "fine", eng: engine.Config{PromptCache: prompts, Log: log}, cfg: cfg})
	for _, err := range []error{srv.OpenFeedback(), srv.OpenResponses()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	written := func() uint64 { return prompts.Stats().Written }
	// round asks for everything that writes a file.
	reports := 0
	var ids []string
	round := func(name string, writable bool) {
		t.Helper()
		from := len(text.String())
		before, dropped := written(), prompts.Stats().Dropped
		if status, _, got := post(t, url+"/generate_json", `{"prompt": "x", "max_tokens": 5, "schema": {"type": "boolean"}}`); status != 200 || at(got, "constraint", "validated") != true {
			t.Errorf("%s: /generate_json: %d %v", name, status, got)
		}
		status, _, got := post(t, url+"/completion", fmt.Sprintf(`{"prompt": "%s %s", "n_predict": 2, "id_slot": 0}`, name, strings.Repeat("what is it? ", 200)))
		if status != 200 {
			t.Errorf("%s: /completion: %d %v", name, status, got)
		}
		poll.Until(func() bool { return written() > before || prompts.Stats().Dropped > dropped })
		if (written() > before) != writable {
			t.Errorf("%s: %d prompts written, %d dropped", name, written()-before, prompts.Stats().Dropped-dropped)
		}
		status, _, got = post(t, url+"/slots/0?action=save", `{"filename":"`+name+`.bin"}`)
		unwritable := status == http.StatusServiceUnavailable && at(got, "error", "reason") == "storage_unwritable"
		if writable && status != 200 || !writable && !unwritable {
			t.Errorf("%s: slots: %d %v", name, status, got)
		}
		_, err := os.Stat(filepath.Join(dir, name+".bin"))
		if writable != (err == nil) {
			t.Errorf("%s: the file of the slot: %v", name, err)
		}
		status, _, got = post(t, url+"/feedback", `{"model": "tiny", "confidence": 0.8, "success": true}`)
		if writable {
			reports++
		}
		if writable && (status != 200 || got["count"] != float64(reports)) || !writable && (status != http.StatusServiceUnavailable || at(got, "error", "code") != "storage_unwritable") {
			t.Errorf("%s: /feedback: %d %v", name, status, got)
		}
		if status, got := fetch(t, url+"/feedback?model=tiny"); status != 200 || got["count"] != float64(reports) {
			t.Errorf("%s: GET /feedback: %d %v, want %d", name, status, got, reports)
		}
		status, _, got = post(t, url+"/v1/responses", responsesBody(`"input": "What now?"`))
		if status != 200 || at(got, "output", 0, "content", 0, "text") != "fine" {
			t.Errorf("%s: /v1/responses: %d %v", name, status, got)
		} else if writable {
			ids = append(ids, got["id"].(string))
		} else if warned := fmt.Sprint(got["warnings"]); got["store"] != false || !strings.Contains(warned, "not stored") || strings.Contains(warned, dir) {
			t.Errorf("%s: the client is told %v, %s", name, got["store"], warned)
		} else if status, got := fetch(t, url+"/v1/responses/"+got["id"].(string)); status != 404 {
			t.Errorf("%s: a response that is not stored: %d %v", name, status, got)
		}
		for path, body := range map[string]string{"/v1/responses": backgroundBody(`"max_output_tokens": 60`), "/v1/conversations": `{}`} { // are stored, or refused
			status, _, got = post(t, url+path, body)
			if writable && status == 200 && path == "/v1/responses" {
				reached(t, url, "", got["id"].(string), "completed")
			}
			if writable && status != 200 || !writable && (status != http.StatusServiceUnavailable || at(got, "error", "code") != "storage_unwritable") {
				t.Errorf("%s: %s: %d %v", name, path, status, got)
			}
		}
		for _, id := range ids {
			if status, got := fetch(t, url+"/v1/responses/"+id); status != 200 || got["id"] != id {
				t.Errorf("%s: %s: %d %v", name, id, status, got)
			}
		}
		said := text.String()[from:]
		for _, file := range []string{"prompts/writing-", "/.writing-", "feedback.db", "responses.db"} {
			if failed := strings.Contains(said, file) && strings.Contains(said, "file too large"); failed == writable {
				t.Errorf("%s: the log of %s:\n%s", name, file, said)
			}
		}
	}
	round("empty", true)
	full(true)
	round("full", false)
	round("still", false)
	full(false)
	round("again", true)
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 5 {
		t.Errorf("left: %v, %v", left, err)
	}
	for _, err := range []error{srv.CloseResponses(), srv.CloseFeedback()} {
		if err != nil {
			t.Error(err)
		}
	}
	cfg.Log = slog.New(slog.DiscardHandler)
	if srv, url = start(t, setup{cfg: cfg}); srv.OpenFeedback() != nil || srv.OpenResponses() != nil {
		t.Fatal("the files can't be opened again")
	}
	if status, got := fetch(t, url+"/feedback?model=tiny"); status != 200 || got["count"] != float64(reports) {
		t.Errorf("after a restart: %d %v, want %d", status, got, reports)
	}
	for _, id := range ids {
		if status, got := fetch(t, url+"/v1/responses/"+id); status != 200 || got["id"] != id {
			t.Errorf("after a restart: %s: %d %v", id, status, got)
		}
	}
}

// TestSlotsOfOthers checks that with several API keys each has files and slots of its own, that nothing but a saved slot is replaced, and
// that the folder and the memory for it are bounded.
func TestSlotsOfOthers(t *testing.T) {
	folder := t.TempDir()
	cfg := Config{SlotFolder: folder, SlotBytes: 20_000, Access: access.Config{Keys: []string{"one", "two"}}}
	srv, url := start(t, setup{reply: " hello there", cfg: cfg})
	as := func(key, path, body string, want int, code string) map[string]any {
		t.Helper()
		r, err := http.NewRequest("POST", url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var got map[string]any
		if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
			t.Fatal(err)
		}
		if reason, _ := at(got, "error", "reason").(string); resp.StatusCode != want || reason != code {
			t.Errorf("%s, %s %s: %d %v, want %d %s", key, path, body, resp.StatusCode, got, want, code)
		}
		return got
	}
	text := `{"prompt": "` + strings.Repeat("what is it? ", 20) + `", "n_predict": 4, "id_slot": 1}`
	as("one", "/completion", text, 200, "")
	for _, action := range []string{"save", "erase"} {
		as("two", "/slots/1?action="+action, `{"filename": "x"}`, 403, "slot_of_another_key")
	}
	as("one", "/slots/1?action=save", `{"filename": "x"}`, 200, "")
	as("two", "/slots/1?action=restore", `{"filename": "x"}`, 400, "invalid_value") // it has none of that name
	as("one", "/slots/2?action=restore", `{"filename": "x"}`, 200, "")
	as("two", "/slots/2?action=erase", ``, 403, "slot_of_another_key")
	as("two", "/completion", strings.Replace(text, `"id_slot": 1`, `"id_slot": 1, "n_keep": 0`, 1), 200, "")
	as("two", "/slots/1?action=save", `{"filename": "x"}`, 200, "")
	as("one", "/slots/1?action=erase", ``, 403, "slot_of_another_key")
	var own string
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 2 {
		t.Fatal(entries, err)
	}
	for _, e := range entries {
		if !e.IsDir() || strings.Contains(e.Name(), "one") || strings.Contains(e.Name(), "two") {
			t.Errorf("%s", e.Name())
		}
		own = filepath.Join(folder, e.Name())
	}
	// What is not a saved slot is not replaced, nor waited for.
	if err := errors.Join(os.WriteFile(filepath.Join(own, "foreign"), []byte("mine"), 0o600), syscall.Mkfifo(filepath.Join(own, "pipe"), 0o600), os.Mkdir(filepath.Join(own, "folder"), 0o700), os.WriteFile(filepath.Join(own, "empty"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"foreign", "pipe", "folder", "empty"} {
		refused := 0 // for the key whose folder it is in
		for key, slot := range map[string]int{"one": 2, "two": 1} {
			for _, action := range []string{"save", "restore"} {
				status := 0
				r, _ := http.NewRequest("POST", fmt.Sprintf("%s/slots/%d?action=%s", url, slot, action), strings.NewReader(`{"filename": "`+name+`"}`))
				r.Header.Set("Authorization", "Bearer "+key)
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				if status = resp.StatusCode; status == 400 {
					refused++
				} else if status != 200 {
					t.Errorf("%s %s of %s: %d", action, name, key, status)
				}
			}
		}
		if refused != 2 {
			t.Errorf("%s: %d refused", name, refused)
		}
	}
	if held, err := os.ReadFile(filepath.Join(own, "foreign")); err != nil || string(held) != "mine" {
		t.Errorf("%q %v", held, err)
	}
	// The folder is full at some time, and what is left of a killed server is removed.
	stale := filepath.Join(own, ".writing-0123456789abcdef")
	if err := errors.Join(os.WriteFile(stale, []byte("x"), 0o600), os.Chtimes(stale, time.Time{}, time.Now().Add(-2*time.Hour))); err != nil {
		t.Fatal(err)
	}
	full := 0
	for i := range 60 {
		r, _ := http.NewRequest("POST", url+"/slots/1?action=save", strings.NewReader(fmt.Sprintf(`{"filename": "n%d"}`, i)))
		r.Header.Set("Authorization", "Bearer two")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode == http.StatusInsufficientStorage {
			full++
		}
	}
	as("two", "/slots/1?action=save", `{"filename": "another"}`, http.StatusInsufficientStorage, "slot_folder_full")
	as("two", "/slots/1?action=save", `{"filename": "n0"}`, 200, "") // it replaces itself
	if _, err := os.Stat(stale); full == 0 || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%d refused, %v", full, err)
	}
	srv.memory.mu.Lock()
	defer srv.memory.mu.Unlock()
	if srv.memory.held != 0 {
		t.Errorf("%d bytes are held", srv.memory.held)
	}
}
