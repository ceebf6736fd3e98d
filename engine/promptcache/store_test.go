package promptcache

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stencil-json/stencil/internal/poll"
)

func open(t testing.TB, dir string, limit int64) *Store {
	t.Helper()
	s, err := Open(dir, limit, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// written waits until all states have been written.
func written(t testing.TB, s *Store) {
	t.Helper()
	poll.Until(func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.queue) == 0
	})
}

func run(from, n int32) []int32 {
	var out []int32
	for i := range n {
		out = append(out, from+i)
	}
	return out
}

// files returns the names and the total size of the files in a folder.
func files(t testing.TB, dir string) (names []string, bytes int64) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		st, err := e.Info()
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Name())
		bytes += st.Size()
	}
	return names, bytes
}

func TestStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	s := open(t, dir, 1<<20)
	h := s.Shelf("one")
	tokens := run(100, 50)
	h.Put(tokens[:20], []byte("twenty"))
	h.Put(tokens[:40], []byte("forty"))
	h.Put(tokens[:40], []byte("again")) // is stored already
	if _, known := h.Find(tokens); known != 40 {
		t.Errorf("%d tokens are known while they are written", known)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n, known := h.Find(tokens); n != 0 || known != 0 {
		t.Errorf("a closed store has %d and %d tokens", n, known)
	}
	if _, ok := h.Read(tokens[:20]); ok {
		t.Error("a closed store was read")
	}

	s = open(t, dir, 1<<20)
	h = s.Shelf("one")
	for _, test := range []struct {
		tokens []int32
		want   int
	}{
		{tokens, 40}, {tokens[:40], 40}, {tokens[:39], 20}, {tokens[:19], 0}, {nil, 0},
		{append(run(100, 30), run(0, 20)...), 20}, {run(101, 50), 0},
	} {
		if n, known := h.Find(test.tokens); n != test.want || known != n {
			t.Errorf("%v: found %d, known %d, want %d", test.tokens, n, known, test.want)
		}
	}
	for n, want := range map[int]string{20: "twenty", 40: "forty"} {
		if got, ok := h.Read(tokens[:n]); !ok || string(got) != want || !h.Has(tokens[:n]) {
			t.Errorf("%d tokens: %q, %t", n, got, ok)
		}
	}
	if _, ok := h.Read(tokens[:30]); ok || h.Has(tokens[:30]) {
		t.Error("read what was never put")
	}
	if n, _ := s.Shelf("two").Find(tokens); n != 0 {
		t.Errorf("another model found %d tokens", n)
	}
	if got := s.Stats(); got != (Stats{Read: 2}) {
		t.Errorf("stats %+v", got)
	}
	if runtime.GOOS == "windows" {
		return
	}
	names, _ := files(t, dir)
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, names[0]): 0o600} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v", path, st.Mode(), err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, limit := range map[string]int64{file: 1, filepath.Join(file, "below"): 1, t.TempDir(): 0} {
		if s, err := Open(dir, limit, nil); err == nil {
			t.Errorf("%s with %d bytes was opened", dir, limit)
			s.Close()
		} else if !strings.HasPrefix(err.Error(), "promptcache: ") {
			t.Errorf("error %v", err)
		}
	}
}

// Every change to a file is noticed, and the file is deleted.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, 1<<20)
	h := s.Shelf("one")
	tokens := run(1, 5)
	h.Put(tokens, []byte("state"))
	written(t, s)
	names, _ := files(t, dir)
	path := filepath.Join(dir, names[0])
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, content []byte) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if state, ok := h.Read(tokens); ok {
			t.Errorf("%s: read %q", what, state)
		}
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Errorf("%s: the file is still there: %v", what, err)
		}
	}
	for i := range whole {
		for _, bit := range []byte{1, 0x80, 0xff} {
			bad := slices.Clone(whole)
			bad[i] ^= bit
			try(fmt.Sprintf("byte %d changed by %#x", i, bit), bad)
		}
		try(fmt.Sprintf("cut off after %d bytes", i), whole[:i])
	}
	try("with another byte", append(slices.Clone(whole), 0))
	for what, of := range map[string]func(*bytes.Buffer) error{
		"another model":  func(b *bytes.Buffer) error { return encode(b, s.Shelf("two").sum, tokens, []byte("state")) },
		"other tokens":   func(b *bytes.Buffer) error { return encode(b, h.sum, run(2, 5), []byte("state")) },
		"fewer tokens":   func(b *bytes.Buffer) error { return encode(b, h.sum, tokens[:4], []byte("state")) },
		"further tokens": func(b *bytes.Buffer) error { return encode(b, h.sum, run(1, 6), []byte("state")) },
	} {
		var b bytes.Buffer
		if err := of(&b); err != nil {
			t.Fatal(err)
		}
		try(what, b.Bytes())
	}
	if got, want := s.Stats().Damaged, uint64(4*len(whole)+5); got != want {
		t.Errorf("%d damaged files were counted, want %d", got, want)
	}
	// A file can be written again after a damaged one.
	h.Put(tokens, []byte("state"))
	written(t, s)
	if state, ok := h.Read(tokens); !ok || string(state) != "state" {
		t.Errorf("written again: %q, %t", state, ok)
	}
}

// Irregular files are not opened, and targets of links are not touched.
func TestIrregular(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	s := open(t, dir, 1<<20)
	h := s.Shelf("one")
	tokens := run(1, 5)
	path := filepath.Join(dir, h.name(tokens).String())
	var b bytes.Buffer
	if err := encode(&b, h.sum, tokens, []byte("state")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(outside, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, path); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if n, _ := h.Find(tokens); n != 5 {
		t.Errorf("found %d tokens", n)
	}
	if _, ok := h.Read(tokens); ok {
		t.Error("read through a link")
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatalf("the link is still there: %v", err)
	}
	if _, ok := h.Read(tokens); ok {
		t.Error("read a folder")
	}
}

// Files of others are kept, regardless of their names.
func TestOthersFiles(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-10 * abandoned)
	others := []string{
		"notes.txt", "x.prompt", "writing-1.prompt", "0-0-0.prompt", ".hidden",
		"0123456789abcdef-0123456789abcdef-07.prompt", "0123456789ABCDEF-0123456789abcdef-7.prompt",
	}
	for _, name := range others {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, 1000), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	left := filepath.Join(dir, temporaryName(7)) // left by a killed process
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(left, old, old); err != nil {
		t.Fatal(err)
	}
	fresh := temporaryName(8) // being written by another process
	if err := os.WriteFile(filepath.Join(dir, fresh), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, 500)
	h := s.Shelf("one")
	for i := range int32(20) {
		h.Put(run(i, 5), make([]byte, 100))
		written(t, s)
	}
	names, _ := files(t, dir)
	for _, name := range append(others, fresh) {
		if !slices.Contains(names, name) {
			t.Errorf("%s is gone", name)
		}
	}
	if slices.Contains(names, filepath.Base(left)) {
		t.Error("what a killed process was writing is still there")
	}
	if n := len(names) - len(others) - 1; n != 2 { // 500 / (56 + 20 + 100)
		t.Errorf("%d states, want 2", n)
	}
}

// The least recently used state is evicted first, regardless of the process that
// used it.
func TestBound(t *testing.T) {
	dir := t.TempDir()
	const size = header + 4*5 + 1000
	s := open(t, dir, 3*size)
	h := s.Shelf("one")
	put := func(i int32) {
		h.Put(run(10*i, 5), make([]byte, 1000))
		written(t, s)
	}
	used := func(i int32, ago time.Duration) {
		at := time.Now().Add(-ago)
		if err := os.Chtimes(filepath.Join(dir, h.name(run(10*i, 5)).String()), at, at); err != nil {
			t.Fatal(err)
		}
	}
	there := func() (out []int32) {
		for i := range int32(10) {
			if _, err := os.Stat(filepath.Join(dir, h.name(run(10*i, 5)).String())); err == nil {
				out = append(out, i)
			}
		}
		return out
	}
	for i := range int32(3) {
		put(i)
		used(i, time.Duration(9-i)*time.Minute)
	}
	if _, ok := open(t, dir, 3*size).Shelf("one").Read(run(0, 5)); !ok {
		t.Error("the first state can't be read")
	}
	put(3)
	if got := there(); !slices.Equal(got, []int32{0, 2, 3}) {
		t.Errorf("there are %v", got)
	}
	used(3, 20*time.Minute)
	h.Put(run(30, 5), nil) // is in the index
	open(t, dir, 3*size).Shelf("one").Put(run(40, 5), make([]byte, 2*size))
	put(4)
	if got := there(); !slices.Equal(got, []int32{0, 2, 4}) {
		t.Errorf("there are %v", got)
	}
	if h.Has(run(30, 5)) || h.Has(run(10, 5)) {
		t.Error("what was deleted is in the index")
	}
	if n := s.Stats().Evicted; n != 2 {
		t.Errorf("%d evicted", n)
	}
	open(t, dir, size) // with a lower limit
	if got := there(); !slices.Equal(got, []int32{4}) {
		t.Errorf("within a lower bound there are %v", got)
	}
	h.Put(run(50, 5), make([]byte, int(s.MaxState())))
	if h.Has(run(50, 5)) {
		t.Error("a state of more than half the bound is kept")
	}
}

// A process finds what another one writes, and not what it deletes.
func TestTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir, 1<<20), open(t, dir, 1<<20)
	tokens := run(1, 10)
	for i := 2; i <= 10; i++ {
		a.Shelf("one").Put(tokens[:i], []byte{byte(i)})
		written(t, a)
		if n, _ := b.Shelf("one").Find(tokens); n != i {
			t.Fatalf("found %d tokens, want %d", n, i)
		}
		if state, ok := b.Shelf("one").Read(tokens[:i]); !ok || !bytes.Equal(state, []byte{byte(i)}) {
			t.Errorf("%d tokens: %v, %t", i, state, ok)
		}
	}
	a.Shelf("one").Reject(tokens, os.ErrInvalid)
	if _, ok := b.Shelf("one").Read(tokens); ok || b.Shelf("one").Has(tokens) {
		t.Error("a deleted state was read")
	}
	if n, _ := b.Shelf("one").Find(tokens); n != 9 {
		t.Errorf("found %d tokens, want 9", n)
	}
	// Both write the same state.
	for range 20 {
		tokens := run(rand.Int32(), 10)
		for _, s := range []*Store{a, b} {
			s.Shelf("one").Put(tokens, []byte("same"))
		}
		written(t, a)
		written(t, b)
		for _, s := range []*Store{a, b} {
			if state, ok := s.Shelf("one").Read(tokens); !ok || string(state) != "same" {
				t.Errorf("%q, %t", state, ok)
			}
		}
	}
}

// Several processes write, read and delete in one folder at the same time.
func TestCrowd(t *testing.T) {
	dir := t.TempDir()
	const stores, rounds, most, enough, limit = 4, 150, 100_000, 10, 20_000
	state := func(tokens []int32) []byte {
		out := make([]byte, 500+tokens[0])
		for i := range out {
			out[i] = byte(int32(i) * (tokens[0] + 3))
		}
		return out
	}
	var hits sync.Map
	var read atomic.Int32 // how many different states have been read
	var wg sync.WaitGroup
	for i := range stores {
		s := open(t, dir, limit)
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			h := s.Shelf("one")
			for round := 0; round < rounds || round < most && read.Load() < enough; round++ { // the writers may be slow
				tokens := run(rng.Int32N(40), 5)
				if got, ok := h.Read(tokens); ok {
					if !bytes.Equal(got, state(tokens)) {
						t.Errorf("the state of %v is another one", tokens)
					}
					if _, again := hits.LoadOrStore(tokens[0], true); !again {
						read.Add(1)
					}
				} else {
					h.Put(tokens, state(tokens))
				}
				if rng.IntN(20) == 0 {
					h.Reject(tokens, os.ErrInvalid)
				}
				h.Find(tokens)
			}
			written(t, s)
		})
	}
	wg.Wait()
	if n := read.Load(); n < enough {
		t.Errorf("only %d different states were read", n)
	}
	// Writing ends with a check of the limit, so the last writer has enforced it.
	if names, size := files(t, dir); size > limit || len(names) == 0 {
		t.Errorf("%d files take %d bytes of %d", len(names), size, limit)
	}
}

func TestNames(t *testing.T) {
	for _, n := range []name{{}, {1, 2, 3}, {^uint64(0), ^uint64(0), 1 << 30}} {
		if got, ok := parseName(n.String()); !ok || got != n {
			t.Errorf("%v: %v, %t", n, got, ok)
		}
	}
	good := name{1, 2, 3}.String()
	for i := range good {
		for _, c := range []string{"", "-", "+", "x", " "} {
			if bad := good[:i] + c + good[i+1:]; bad != good {
				if n, ok := parseName(bad); ok && n.String() != bad {
					t.Errorf("%q passes for %v", bad, n)
				}
			}
		}
	}
	if Extend(Extend(0, 1), 2) == Extend(Extend(0, 2), 1) {
		t.Error("the order of tokens does not matter")
	}
}
