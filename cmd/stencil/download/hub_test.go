package download

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/models"
)

// A fakeHub is a hub with one repository.
type fakeHub struct {
	t      *testing.T
	files  map[string][]byte
	wrong  string // a file listed with a wrong checksum
	lists  int
	tokens map[string]bool
}

func (h *fakeHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.tokens[r.Header.Get("Authorization")] = true
	if r.URL.Path == "/api/models/o/r/tree/main" && r.URL.Query().Get("recursive") == "true" {
		h.lists++
		type lfs struct {
			OID string `json:"oid"`
		}
		type file struct {
			Type string `json:"type"`
			Path string `json:"path"`
			LFS  *lfs   `json:"lfs,omitempty"`
		}
		list := []file{{Type: "directory", Path: "sub"}, {Type: "file", Path: "README.md"}, {Type: "file", Path: "../up-Q4_K_M.gguf"}, {Type: "file", Path: "mmproj-Q4_K_M.gguf"}}
		for name, content := range h.files {
			sum := sumOf(content)
			if name == h.wrong {
				sum = strings.Repeat("0", 64)
			}
			list = append(list, file{"file", name, &lfs{sum}})
		}
		if err := json.NewEncoder(w).Encode(list); err != nil {
			h.t.Error(err)
		}
		return
	}
	name, ok := strings.CutPrefix(r.URL.Path, "/o/r/resolve/main/")
	content := h.files[name]
	if !ok || content == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Write(content)
}

func TestRepository(t *testing.T) {
	impatient(t)
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := models.WriteRandom(path, models.RandomOptions{Width: 32}); err != nil {
		t.Fatal(err)
	}
	model, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	hub := &fakeHub{t: t, tokens: map[string]bool{}, files: map[string][]byte{
		"m-Q8_0.gguf": model, "m-q4_k_m.gguf": model, "sub/m-F16-00002-of-00002.gguf": model, "sub/m-F16-00001-of-00002.gguf": model, "m-Q4_K_M_L.gguf": model,
	}}
	h := httptest.NewServer(hub)
	defer h.Close()
	folder := t.TempDir()
	fetch := func(name, file string) (string, error) {
		got, err := (&Repository{Hub: h.URL, Name: name, File: file, Token: "secret", Agent: "test", Log: io.Discard}).Fetch(t.Context(), folder)
		if err == nil {
			content, rerr := os.ReadFile(got)
			if rerr != nil || !bytes.Equal(content, model) {
				t.Errorf("%s: %s: %d bytes, %v", name, got, len(content), rerr)
			}
			got, err = filepath.Rel(folder, got)
		}
		return filepath.ToSlash(got), err
	}
	for i, test := range []struct {
		name, file, want string
		asked            int
	}{
		{"o/r:q8_0", "", "o/r/m-Q8_0.gguf", 1},
		{"o/r", "", "o/r/m-q4_k_m.gguf", 2},
		{"o/r", "", "o/r/m-q4_k_m.gguf", 2}, // cached
		{"o/r:Q4_K_M", "", "o/r/m-q4_k_m.gguf", 2},
		{"o/r:F16", "", "o/r/sub/m-F16-00001-of-00002.gguf", 3},
		{"o/r:F16", "", "o/r/sub/m-F16-00001-of-00002.gguf", 3},
		{"o/r@main", "m-Q4_K_M_L.gguf", "o/r/m-Q4_K_M_L.gguf", 4},
	} {
		if got, err := fetch(test.name, test.file); err != nil || got != test.want || hub.lists != test.asked {
			t.Errorf("%d %s: %s, %v, asked %d times", i, test.name, got, err, hub.lists)
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "o", "r", "sub", "m-F16-00002-of-00002.gguf")); err != nil {
		t.Error(err)
	}
	if len(hub.tokens) != 1 || !hub.tokens["Bearer secret"] {
		t.Error(hub.tokens)
	}
	hub.files["m-Q2_K.gguf"], hub.wrong = model, "m-Q2_K.gguf"
	for name, want := range map[string]string{
		"o/r:Q3": `no file is named after "Q3": there are m-Q2_K.gguf, m-Q4_K_M_L.gguf`, "o/none": "404", "r": "OWNER/REPO", "../r/x": "OWNER/REPO", "o/..": "OWNER/REPO", "o/r@..": "OWNER/REPO",
		"o/r:Q2_K": "deleted",
	} {
		if got, err := fetch(name, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if got, err := fetch("o/r", "none.gguf"); err == nil || !strings.Contains(err.Error(), "no file none.gguf") {
		t.Errorf("%s, %v", got, err)
	}
}
