package download

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stencil-json/stencil/cmd/stencil/console"
	"github.com/stencil-json/stencil/internal/poll"
)

// A fileServer serves one file, with the faults that a test requests.
type fileServer struct {
	mu       sync.Mutex
	content  []byte
	etag     string
	requests []string // the Range header of each

	cutAfter    int                                                      // bytes of a body until the connection is cut; 0: never
	ignoreRange bool                                                     // ignores the Range header
	ignoreIf    bool                                                     // ignores the If-Range header
	claim       int                                                      // false Content-Length; 0: the right one
	chunked     bool                                                     // sends no Content-Length
	before      func(n int, w http.ResponseWriter, r *http.Request) bool // returns true if it has answered
	hang        bool                                                     // stops sending without closing the connection
}

func (s *fileServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, r.Header.Get("Range"))
	content, etag, cut := s.content, s.etag, s.cutAfter
	s.mu.Unlock()
	if s.before != nil && s.before(n, w, r) {
		return
	}
	from := 0
	if etag != "" {
		w.Header().Set("ETag", etag)
	}
	if rest, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok && !s.ignoreRange {
		if match := r.Header.Get("If-Range"); s.ignoreIf || match == "" || match == etag {
			from, _ = strconv.Atoi(strings.TrimSuffix(rest, "-"))
		}
	}
	if from > len(content) {
		w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		return
	}
	body := content[from:]
	length := len(body)
	if s.claim > 0 {
		length = s.claim
	}
	if !s.chunked {
		w.Header().Set("Content-Length", strconv.Itoa(length))
	}
	if from > 0 {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(content)-1, len(content)))
		w.WriteHeader(http.StatusPartialContent)
	}
	if cut > 0 && len(body) > cut {
		w.Write(body[:cut])
		w.(http.Flusher).Flush()
		if s.hang {
			<-r.Context().Done()
		}
		panic(http.ErrAbortHandler)
	}
	w.Write(body[:min(len(body), length)])
}

func (s *fileServer) change(content []byte, etag string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.content, s.etag = content, etag
}

func (s *fileServer) ranges() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.requests...)
}

func randomContent(seed uint64, n int) []byte {
	rng := rand.New(rand.NewPCG(seed, 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func sumOf(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// impatient shortens the pauses for one test.
func impatient(t *testing.T) {
	pause, stall := pausePull, stallPull
	pausePull, stallPull = time.Millisecond, 200*time.Millisecond
	t.Cleanup(func() { pausePull, stallPull = pause, stall })
}

// fetch downloads from a server into dir.
func fetch(t *testing.T, url, dir, sum string) (Done, string, error) {
	t.Helper()
	src, err := Resolve(url, Hub)
	if err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(dir, src.Name)
	d := &File{Source: src, Path: target, Sum: sum, Log: io.Discard}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	done, err := d.Run(ctx)
	return done, target, err
}

// whole checks that the file is complete, correct, and the only one in its folder.
func whole(t *testing.T, target string, content []byte) {
	t.Helper()
	got, err := os.ReadFile(target)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, content) {
		t.Fatalf("%d bytes, want %d: not the same", len(got), len(content))
	}
	left, err := os.ReadDir(filepath.Dir(target))
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 {
		t.Errorf("the folder holds %v", left)
	}
}

func absent(t *testing.T, target string) {
	t.Helper()
	if _, err := os.Stat(target); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is there (error %v)", target, err)
	}
}

func TestPullWhole(t *testing.T) {
	content := randomContent(1, 300_000)
	for name, s := range map[string]*fileServer{
		"plain":   {content: content, etag: `"a"`},
		"no etag": {content: content},
		"chunked": {content: content, chunked: true},
		"empty":   {content: nil, etag: `"a"`},
	} {
		t.Run(name, func(t *testing.T) {
			impatient(t)
			h := httptest.NewServer(s)
			defer h.Close()
			done, target, err := fetch(t, h.URL+"/model.gguf", t.TempDir(), sumOf(s.content))
			if err != nil {
				t.Fatal(err)
			}
			whole(t, target, s.content)
			if done.Sum != sumOf(s.content) || done.Verified != "verified, as given" || done.Already {
				t.Errorf("%+v", done)
			}
		})
	}
}

// TestPullResumes checks that a download is resumed after each of many interruptions.
func TestPullResumes(t *testing.T) {
	impatient(t)
	s := &fileServer{content: randomContent(2, 1_000_000), etag: `"a"`, cutAfter: 150_000}
	h := httptest.NewServer(s)
	defer h.Close()
	_, target, err := fetch(t, h.URL+"/model.gguf", t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	whole(t, target, s.content)
	ranges := s.ranges()
	if len(ranges) < 6 || ranges[0] != "" {
		t.Fatalf("ranges %v", ranges)
	}
	last := 0
	for _, r := range ranges[1:] {
		from, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(r, "bytes="), "-"))
		if err != nil || from <= last {
			t.Errorf("ranges %v: no progress", ranges)
			break
		}
		last = from
	}
}

// TestPullResumesInAnotherRun checks that a run resumes the download of a stopped run.
func TestPullResumesInAnotherRun(t *testing.T) {
	impatient(t)
	s := &fileServer{content: randomContent(3, 500_000), etag: `"a"`, cutAfter: 200_000, before: func(n int, w http.ResponseWriter, _ *http.Request) bool {
		if n == 0 {
			return false
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}}
	h := httptest.NewServer(s)
	defer h.Close()
	dir := t.TempDir()
	_, target, err := fetch(t, h.URL+"/model.gguf", dir, "")
	if err == nil || !strings.Contains(err.Error(), "503") || !strings.Contains(err.Error(), "resume at byte 200000") {
		t.Fatalf("error %v", err)
	}
	absent(t, target)
	first := len(s.ranges())
	s.before, s.cutAfter = nil, 0
	if _, _, err := fetch(t, h.URL+"/model.gguf", dir, ""); err != nil {
		t.Fatal(err)
	}
	whole(t, target, s.content)
	if got := s.ranges()[first:]; len(got) != 1 || got[0] != "bytes=200000-" {
		t.Errorf("the second run asked for %v", got)
	}
}

// TestPullDoesNotJoinStrangers checks that without an entity tag and a checksum, a
// download is restarted, because its parts could belong to different files.
func TestPullDoesNotJoinStrangers(t *testing.T) {
	impatient(t)
	s := &fileServer{content: randomContent(4, 400_000), cutAfter: 100_000, before: func(n int, w http.ResponseWriter, _ *http.Request) bool {
		if n > 0 {
			w.WriteHeader(http.StatusBadGateway)
		}
		return n > 0
	}}
	h := httptest.NewServer(s)
	defer h.Close()
	dir := t.TempDir()
	if _, _, err := fetch(t, h.URL+"/model.gguf", dir, ""); err == nil {
		t.Fatal("no error")
	}
	s.before, s.cutAfter = nil, 0
	s.change(randomContent(5, 400_000), "")
	first := len(s.ranges())
	_, target, err := fetch(t, h.URL+"/model.gguf", dir, "")
	if err != nil {
		t.Fatal(err)
	}
	whole(t, target, s.content)
	if got := s.ranges()[first]; got != "" {
		t.Errorf("asked for %s", got)
	}
}

func TestPullFileChangesMidway(t *testing.T) {
	for name, ignoreIf := range map[string]bool{"server honours If-Range": false, "server ignores If-Range": true} {
		t.Run(name, func(t *testing.T) {
			impatient(t)
			newer := randomContent(7, 350_000)
			s := &fileServer{content: randomContent(6, 300_000), etag: `"old"`, cutAfter: 100_000, ignoreIf: ignoreIf}
			s.before = func(n int, _ http.ResponseWriter, _ *http.Request) bool {
				return false
			}
			h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if len(s.ranges()) == 1 {
					s.change(newer, `"new"`)
					s.mu.Lock()
					s.cutAfter = 0
					s.mu.Unlock()
				}
				s.ServeHTTP(w, r)
			}))
			defer h.Close()
			_, target, err := fetch(t, h.URL+"/model.gguf", t.TempDir(), "")
			if err != nil {
				t.Fatal(err)
			}
			whole(t, target, newer)
		})
	}
}

// TestPullServerIgnoresRange checks that a server without ranges sends the whole file
// each time.
func TestPullServerIgnoresRange(t *testing.T) {
	impatient(t)
	s := &fileServer{content: randomContent(8, 300_000), etag: `"a"`, ignoreRange: true, cutAfter: 200_000}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(s.ranges()) == 2 {
			s.mu.Lock()
			s.cutAfter = 0
			s.mu.Unlock()
		}
		s.ServeHTTP(w, r)
	}))
	defer h.Close()
	_, target, err := fetch(t, h.URL+"/model.gguf", t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	whole(t, target, s.content)

	// If it never completes, the download fails.
	s.cutAfter = 200_000
	s.requests = make([]string, 10)
	dir := t.TempDir()
	_, target, err = fetch(t, h.URL+"/model.gguf", dir, "")
	if err == nil {
		t.Fatal("no error")
	}
	absent(t, target)
}

func TestPullWrongLengths(t *testing.T) {
	content := randomContent(9, 200_000)
	t.Run("too long", func(t *testing.T) { // less is sent than announced
		impatient(t)
		s := &fileServer{content: content, etag: `"a"`, claim: 250_000}
		h := httptest.NewServer(s)
		defer h.Close()
		_, target, err := fetch(t, h.URL+"/model.gguf", t.TempDir(), "")
		if err == nil {
			t.Error("no error")
		}
		absent(t, target)
	})
	t.Run("too short", func(t *testing.T) { // less is announced than the file has
		impatient(t)
		s := &fileServer{content: content, etag: `"a"`, claim: 150_000}
		h := httptest.NewServer(s)
		defer h.Close()
		_, target, err := fetch(t, h.URL+"/model.gguf", t.TempDir(), sumOf(content))
		if err == nil || !strings.Contains(err.Error(), "sha256") {
			t.Errorf("error %v", err)
		}
		absent(t, target)
	})
	t.Run("total changes", func(t *testing.T) { // 206 with another total
		impatient(t)
		s := &fileServer{content: content, etag: `"a"`, cutAfter: 50_000}
		s.before = func(n int, w http.ResponseWriter, r *http.Request) bool {
			if n != 1 {
				return false
			}
			w.Header().Set("ETag", `"a"`)
			w.Header().Set("Content-Range", "bytes 50000-99999/100000")
			w.WriteHeader(http.StatusPartialContent)
			w.Write(content[50_000:100_000])
			s.mu.Lock()
			s.cutAfter = 0
			s.mu.Unlock()
			return true
		}
		h := httptest.NewServer(s)
		defer h.Close()
		_, target, err := fetch(t, h.URL+"/model.gguf", t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		whole(t, target, content)
	})
}

func TestPullChecksum(t *testing.T) {
	impatient(t)
	s := &fileServer{content: randomContent(10, 10_000), etag: `"a"`}
	h := httptest.NewServer(s)
	defer h.Close()
	dir := t.TempDir()
	_, target, err := fetch(t, h.URL+"/model.gguf", dir, strings.Repeat("0", 64))
	if err == nil || !strings.Contains(err.Error(), "sha256 is "+sumOf(s.content)) {
		t.Errorf("error %v", err)
	}
	absent(t, target)
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestPullFromHub checks that the checksum that the hub sends with its redirection is
// used.
func TestPullFromHub(t *testing.T) {
	impatient(t)
	content := randomContent(11, 100_000)
	var gotToken, leaked string
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leaked = r.Header.Get("Authorization")
		(&fileServer{content: content, etag: `"cdn"`}).ServeHTTP(w, r)
	}))
	defer files.Close()
	sum := sumOf(content)
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		gotToken = r.Header.Get("Authorization")
		if r.URL.Path != "/owner/repo/resolve/v2/sub/model.gguf" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("X-Linked-Etag", `"`+sum+`"`)
		// The same machine under a different name, like a separate file server.
		http.Redirect(w, r, strings.Replace(files.URL, "127.0.0.1", "localhost", 1)+"/blob", http.StatusFound)
	}))
	defer hub.Close()
	run := func(arg string) (Done, string, error) {
		src, err := Resolve(arg, hub.URL)
		if err != nil {
			t.Fatal(err)
		}
		target := filepath.Join(t.TempDir(), src.Name)
		done, err := (&File{Source: src, Path: target, Token: "secret", Log: io.Discard}).Run(t.Context())
		return done, target, err
	}
	done, target, err := run("hf:owner/repo@v2/sub/model.gguf")
	if err != nil {
		t.Fatal(err)
	}
	whole(t, target, content)
	if done.Verified != "verified, as the hub says" {
		t.Errorf("%+v", done)
	}
	if gotToken != "Bearer secret" || leaked != "" {
		t.Errorf("the hub got the token %q, the file server %q", gotToken, leaked)
	}
	if _, _, err := run("hf:owner/repo/model.gguf"); err == nil || !strings.Contains(err.Error(), "there is no file") {
		t.Errorf("a file that is not there: %v", err)
	}
	sum = strings.Repeat("a", 64)
	if _, target, err = run("hf:owner/repo@v2/sub/model.gguf"); err == nil || !strings.Contains(err.Error(), "as the hub says") {
		t.Errorf("a wrong checksum of the hub: %v", err)
	}
	absent(t, target)
}

func TestPullStalled(t *testing.T) {
	impatient(t)
	s := &fileServer{content: randomContent(12, 300_000), etag: `"a"`, cutAfter: 100_000, hang: true}
	h := httptest.NewServer(s)
	defer h.Close()
	_, target, err := fetch(t, h.URL+"/model.gguf", t.TempDir(), "") // the server leaves the response unfinished
	if err != nil {
		t.Fatal(err)
	}
	whole(t, target, s.content)
}

func TestPullStopped(t *testing.T) {
	impatient(t)
	stallPull = time.Minute
	s := &fileServer{content: randomContent(13, 300_000), etag: `"a"`, cutAfter: 100_000, hang: true}
	h := httptest.NewServer(s)
	defer h.Close()
	src, err := Resolve(h.URL+"/model.gguf", "")
	if err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(t.TempDir(), "model.gguf")
	ctx, cancel := context.WithCancel(t.Context())
	d := &File{Source: src, Path: target, Log: io.Discard}
	go func() {
		poll.Until(func() bool {
			info, err := os.Stat(d.partPath())
			return err == nil && info.Size() == 100_000
		})
		cancel()
	}()
	_, err = d.Run(ctx)
	if err == nil || !strings.Contains(err.Error(), "stopped after 100000 bytes") {
		t.Errorf("error %v", err)
	}
	absent(t, target)
}

func TestPullPresent(t *testing.T) {
	impatient(t)
	content := randomContent(14, 1000)
	s := &fileServer{content: content, etag: `"a"`}
	h := httptest.NewServer(s)
	defer h.Close()
	dir := t.TempDir()
	target := filepath.Join(dir, "model.gguf")
	if err := os.WriteFile(target, content, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, sum := range []string{"", sumOf(content)} {
		if done, _, err := fetch(t, h.URL+"/model.gguf", dir, sum); err != nil || !done.Already {
			t.Errorf("%+v, %v", done, err)
		}
	}
	if _, _, err := fetch(t, h.URL+"/model.gguf", dir, strings.Repeat("1", 64)); err == nil || !strings.Contains(err.Error(), "--force") {
		t.Errorf("another checksum: %v", err)
	}
	if n := len(s.ranges()); n != 0 {
		t.Errorf("%d requests", n)
	}
	whole(t, target, content)
}

func TestPullLocked(t *testing.T) {
	impatient(t)
	dir := t.TempDir()
	target := filepath.Join(dir, "model.gguf")
	f, err := os.Create(target + ".part")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unlock, err := console.Lock(f)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	h := httptest.NewServer(&fileServer{content: []byte("x")})
	defer h.Close()
	if _, _, err := fetch(t, h.URL+"/model.gguf", dir, ""); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("error %v", err)
	}
}

func TestPullPermanentErrors(t *testing.T) {
	impatient(t)
	for status, want := range map[int]string{401: "token", 403: "token", 404: "there is no file", 410: "410", 501: "501"} {
		s := &fileServer{before: func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(status)
			return true
		}}
		h := httptest.NewServer(s)
		_, target, err := fetch(t, h.URL+"/model.gguf", t.TempDir(), "")
		h.Close()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: error %v", status, err)
		}
		if n := len(s.ranges()); n != 1 {
			t.Errorf("%d: %d requests", status, n)
		}
		absent(t, target)
	}
	// A redirection to plain http on another machine is refused before the request.
	h := httptest.NewServer(http.RedirectHandler("http://192.0.2.1/model.gguf", http.StatusFound))
	defer h.Close()
	if _, _, err := fetch(t, h.URL+"/model.gguf", t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "plain http is allowed for this machine only") {
		t.Errorf("a redirection to http: %v", err)
	}
}

func TestResolve(t *testing.T) {
	for arg, want := range map[string]string{
		"hf:o/r/f.gguf":               "https://huggingface.co/o/r/resolve/main/f.gguf f.gguf",
		"hf:o/r@abc/d/f.gguf":         "https://huggingface.co/o/r/resolve/abc/d/f.gguf f.gguf",
		"https://example.com/a/b?x=1": "https://example.com/a/b?x=1 b",
		"http://127.0.0.1:9/m":        "http://127.0.0.1:9/m m",
		"http://[::1]:9/m":            "http://[::1]:9/m m",
		"http://localhost/m":          "http://localhost/m m",
	} {
		src, err := Resolve(arg, Hub)
		if err != nil {
			t.Errorf("%s: %v", arg, err)
			continue
		}
		if got := src.url.String() + " " + src.Name; got != want {
			t.Errorf("%s: %s, want %s", arg, got, want)
		}
	}
	for _, arg := range []string{"", "model.gguf", "hf:o/r", "hf:/r/f", "hf:o//f", "hf:o/../m.gguf", "hf:../r/m.gguf", "hf:o/r/../../m.gguf", "hf:o/r/./m.gguf", "hf:o/r/a//m.gguf", "hf:o/r@../m.gguf", "hf:o/r@/m.gguf", "http://example.com/m", "http://127.0.0.1.example.com/m", "ftp://example.com/m", "https://example.com/", "file:///etc/passwd"} {
		if src, err := Resolve(arg, Hub); err == nil {
			t.Errorf("%s: %v", arg, src.url)
		}
	}
}

func TestContentRange(t *testing.T) {
	for s, want := range map[string][2]int64{"bytes 10-99/100": {10, 100}, "bytes 0-0/1": {0, 1}} {
		if from, total, ok := contentRange(s); !ok || from != want[0] || total != want[1] {
			t.Errorf("%q: %d, %d, %t", s, from, total, ok)
		}
	}
	for _, s := range []string{"", "bytes", "bytes 10-99", "bytes 10-98/100", "bytes 99-10/100", "bytes */100", "bytes 10-99/*", "lines 10-99/100", "bytes -1-99/100"} {
		if _, _, ok := contentRange(s); ok {
			t.Errorf("%q was accepted", s)
		}
	}
}

func TestPullNames(t *testing.T) {
	for _, arg := range []string{
		"http://127.0.0.1/..", "http://127.0.0.1/a/..", "hf:o/r/a/..", "hf:o/r/..", "http://127.0.0.1/%1b[31mx.gguf", "http://127.0.0.1/a%0ab.gguf", `http://127.0.0.1/a%5cb.gguf`,
		"hf:o/r/a\u202eb.gguf",
	} {
		if src, err := Resolve(arg, Hub); err == nil {
			t.Errorf("%q is the file %q", arg, src.Name)
		} else if strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%q: the error is raw: %q", arg, err)
		}
	}
}

// TestPullTwoHalves checks that parts are not joined without an entity tag, a checksum
// or a date.
func TestPullTwoHalves(t *testing.T) {
	impatient(t)
	s := &fileServer{content: randomContent(3, 100_000), cutAfter: 50_000}
	changed := randomContent(4, 100_000)
	s.before = func(n int, _ http.ResponseWriter, _ *http.Request) bool {
		if n == 1 {
			s.mu.Lock()
			s.content, s.cutAfter = changed, 0
			s.mu.Unlock()
		}
		return false
	}
	h := httptest.NewServer(s)
	defer h.Close()
	// The second answer may have been chosen before or after the change.
	_, target, err := fetch(t, h.URL+"/model.bin", t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(target)
	if err != nil || !bytes.Equal(got, changed) && !bytes.Equal(got, randomContent(3, 100_000)) {
		t.Errorf("two halves of different files were joined: %d bytes, %v", len(got), err)
	}
	for i, r := range s.ranges() {
		if r != "" {
			t.Errorf("request %d asks for the range %q", i, r)
		}
	}
}

// TestPullLeavesNothing checks that failed downloads without data leave no files.
func TestPullLeavesNothing(t *testing.T) {
	impatient(t)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/elsewhere.gguf":
			http.Redirect(w, r, "http://192.0.2.1/model.gguf", http.StatusFound) // refused: plain http
		case "/scheme.gguf":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/loop.gguf":
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		case "/forbidden.gguf":
			w.WriteHeader(http.StatusForbidden)
		case "/busy.gguf":
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			http.NotFound(w, r)
		}
	}))
	defer h.Close()
	dir := t.TempDir()
	for _, name := range []string{"elsewhere", "scheme", "loop", "forbidden", "busy", "none"} {
		if _, _, err := fetch(t, h.URL+"/"+name+".gguf", dir, ""); err == nil {
			t.Errorf("%s was pulled", name)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: left: %v %v", name, left, err)
		}
	}
}

// In a folder that others may write, nothing that they put there for the part file or its state is followed or read.
func TestPullFollowsNoLink(t *testing.T) {
	content := randomContent(9, 5000)
	far := httptest.NewServer(&fileServer{content: content, etag: `"a"`})
	defer far.Close()
	for name, put := range map[string]func(at, victim string) error{
		"a link to a file": func(at, victim string) error { return os.Symlink(victim, at) },
		"a link to nothing": func(at, victim string) error {
			return os.Symlink(victim+"-new", at)
		},
		"a folder": func(at, _ string) error { return os.Mkdir(at, 0o755) },
	} {
		for _, ending := range []string{".part", ".part.json"} {
			dir, others := t.TempDir(), t.TempDir()
			victim := filepath.Join(others, "victim")
			if err := errors.Join(os.WriteFile(victim, []byte("mine"), 0o644), put(filepath.Join(dir, "m.bin"+ending), victim)); err != nil {
				t.Fatal(err)
			}
			if _, _, err := fetch(t, far.URL+"/m.bin", dir, ""); err == nil || !strings.Contains(err.Error(), "m.bin"+ending) {
				t.Errorf("%s for %s: %v", name, ending, err)
			}
			text, err := os.ReadFile(victim)
			if entries, _ := os.ReadDir(others); err != nil || string(text) != "mine" || len(entries) != 1 {
				t.Errorf("%s for %s: %q %v %v", name, ending, text, err, entries)
			}
		}
	}
	// Exchanged while it is written.
	dir := t.TempDir()
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	swapping := httptest.NewServer(&fileServer{content: content, etag: `"a"`, before: func(n int, w http.ResponseWriter, r *http.Request) bool {
		part := filepath.Join(dir, "m.bin.part")
		if err := errors.Join(os.Remove(part), os.Symlink(victim, part)); err != nil {
			t.Error(err)
		}
		return false
	}})
	defer swapping.Close()
	if _, _, err := fetch(t, swapping.URL+"/m.bin", dir, ""); err == nil || !strings.Contains(err.Error(), "exchanged") {
		t.Errorf("exchanged: %v", err)
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "mine" {
		t.Errorf("exchanged: %q %v", text, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "m.bin")); err == nil {
		t.Error("what was put there is taken for the download")
	}
	// What is no file can't be the target.
	d := &File{Source: Source{}, Path: os.DevNull}
	if done, err := d.Run(t.Context()); err == nil || done.Already {
		t.Errorf("%s: %+v %v", os.DevNull, done, err)
	}
}
