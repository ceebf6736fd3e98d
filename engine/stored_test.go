package engine

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine/promptcache"
	"github.com/stencil-json/stencil/internal/poll"
)

func openStore(t testing.TB, dir string) *promptcache.Store {
	t.Helper()
	s, err := promptcache.Open(dir, 1<<30, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// life is one run of a server with a folder.
type life struct {
	*Engine
	store *promptcache.Store
}

func begin(t testing.TB, dir string, opt scripted.Options, cfg Config) *life {
	t.Helper()
	store := openStore(t, dir)
	cfg.PromptCache = store
	return &life{newEngine(t, scripted.Random(1), opt, cfg), store}
}

// end closes it, after all states have been written.
func (l *life) end(t testing.TB) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := l.store.Close(); err != nil {
		t.Error(err)
	}
}

func both(t *testing.T, test func(t *testing.T, opt scripted.Options)) {
	for name, recurrent := range map[string]bool{"attention": false, "recurrent": true} {
		t.Run(name, func(t *testing.T) { test(t, scripted.Options{Recurrent: recurrent}) })
	}
}

// After a restart, prompts are prefilled only from where they differ from earlier
// ones.
func TestPromptCache(t *testing.T) {
	both(t, func(t *testing.T, opt scripted.Options) {
		dir := t.TempDir()
		system, first := words(1, 400), words(2, 500)
		opening := joined(system, first)
		marks := []int{len(system), len(opening) - 5}
		l := begin(t, dir, opt, Config{})
		r, reply := answer(t, l.Engine, Request{Prompt: opening, Marks: marks, MaxTokens: 20})
		if r.CachedTokens != 0 {
			t.Errorf("%d tokens cached", r.CachedTokens)
		}
		l.end(t)

		l = begin(t, dir, opt, Config{})
		check := func(what string, prompt []int32, want int) {
			t.Helper()
			before := l.Stats()
			r, got := answer(t, l.Engine, Request{Prompt: prompt, Marks: marks, MaxTokens: 20})
			if r.CachedTokens != want {
				t.Errorf("%s: %d tokens cached, want %d", what, r.CachedTokens, want)
			}
			after := l.Stats()
			if n := after.StoredTokens - before.StoredTokens; n != uint64(want) || after.ReusedTokens-before.ReusedTokens != n {
				t.Errorf("%s: %d tokens were counted as stored", what, n)
			}
			alone := newEngine(t, scripted.Random(1), scripted.Options{}, Config{})
			if _, want := answer(t, alone, Request{Prompt: prompt, MaxTokens: 20}); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
			l.end(t)
			l = begin(t, dir, opt, Config{})
		}
		check("the same", opening, len(opening)-5)
		check("the second turn", joined(opening, reply, words(3, 50)), len(opening)-5)
		check("another question", joined(system, words(4, 50)), len(system))
		check("another system text", joined(words(5, 1), opening), 0)
		check("a part of the system text", system[:len(system)-1], 0)

		l.end(t)
		opt.StateKey = "another model"
		l = begin(t, dir, opt, Config{})
		check("another model", opening, 0)
		l.end(t)
	})
}

// Which states are worth writing.
func TestWorthWriting(t *testing.T) {
	both(t, func(t *testing.T, opt scripted.Options) {
		for _, test := range []struct {
			prompt int
			marks  []int
			want   []string // numbers of tokens in names
		}{
			{200, []int{100}, nil},
			{writeSpacing, nil, nil}, // the last token is left out
			{writeSpacing + 1, nil, []string{"256"}},
			{400, []int{100, 300}, []string{"300"}},
			{600, []int{100, 300, 590}, []string{"300", "590"}},
			{600, []int{300, 540}, []string{"300", "599"}},
			{2000, []int{1600, 1990}, []string{"1600"}}, // less than a quarter is new
			{2200, []int{1600, 2190}, []string{"1600", "2190"}},
		} {
			dir := t.TempDir()
			l := begin(t, dir, opt, Config{})
			for range 2 { // the second time everything is stored already
				answer(t, l.Engine, Request{Prompt: words(1, test.prompt), Marks: test.marks, MaxTokens: 3})
			}
			l.end(t)
			var got []string
			for _, name := range fileNames(t, dir) {
				n := strings.TrimSuffix(name[strings.LastIndex(name, "-")+1:], ".prompt")
				got = append(got, n)
			}
			slices.SortFunc(got, func(a, b string) int { return len(a)*100000 - len(b)*100000 + strings.Compare(a, b) })
			if !slices.Equal(got, test.want) {
				t.Errorf("a prompt of %d with marks %v: written %v, want %v", test.prompt, test.marks, got, test.want)
			}
		}
	})
}

func fileNames(t testing.TB, dir string) (out []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}

// States in memory are not read from disk.
func TestSlotsBeforeDisk(t *testing.T) {
	both(t, func(t *testing.T, opt scripted.Options) {
		dir := t.TempDir()
		p := words(1, 1000)
		l := begin(t, dir, opt, Config{})
		answer(t, l.Engine, Request{Prompt: p, Marks: []int{500}, MaxTokens: 3})
		l.end(t)
		l = begin(t, dir, opt, Config{})
		defer l.end(t)
		for range 3 {
			answer(t, l.Engine, Request{Prompt: p, MaxTokens: 3})
		}
		if n := l.store.Stats().Read; n != 1 {
			t.Errorf("%d states were read", n)
		}
		if s := l.Stats(); s.StoredTokens != 999 || s.ReusedTokens != 3*999 {
			t.Errorf("stats %+v", s)
		}
	})
}

// Regardless of how a file was damaged, the text is the same and the file is
// deleted.
func TestDamagedPromptCache(t *testing.T) {
	both(t, func(t *testing.T, opt scripted.Options) {
		dir := t.TempDir()
		p := words(1, 257)
		l := begin(t, dir, opt, Config{})
		_, want := answer(t, l.Engine, Request{Prompt: p, MaxTokens: 3})
		l.end(t)
		names := fileNames(t, dir)
		if len(names) != 1 {
			t.Fatalf("%d files", len(names))
		}
		path := filepath.Join(dir, names[0])
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		step := max(1, len(whole)/60)
		for i := 0; i < len(whole); i += step {
			bad := slices.Clone(whole)
			bad[i] ^= 0x41
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			l := begin(t, dir, opt, Config{})
			r, got := answer(t, l.Engine, Request{Prompt: p, MaxTokens: 3})
			if r.CachedTokens != 0 || !slices.Equal(got, want) {
				t.Errorf("byte %d: %d tokens cached, %v, want %v", i, r.CachedTokens, got, want)
			}
			if n := l.store.Stats().Damaged; n != 1 {
				t.Errorf("byte %d: %d damaged", i, n)
			}
			l.end(t)
		}
		// It is written again each time.
		l = begin(t, dir, opt, Config{})
		if r, got := answer(t, l.Engine, Request{Prompt: p, MaxTokens: 3}); r.CachedTokens != 256 || !slices.Equal(got, want) {
			t.Errorf("%d tokens cached, %v", r.CachedTokens, got)
		}
		l.end(t)
	})
}

// An intact file whose state the backend rejects, or that does not match its name,
// is deleted too.
func TestRefusedState(t *testing.T) {
	both(t, func(t *testing.T, opt scripted.Options) {
		p := words(1, 300)
		m := scripted.New(testVocab(t), scripted.Random(1), opt)
		c, err := m.NewContext(backend.ContextParams{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		short, err := c.SeqState(0)
		if err != nil {
			t.Fatal(err)
		}
		for what, state := range map[string][]byte{"nonsense": []byte("nonsense"), "too few tokens": short} {
			dir := t.TempDir()
			var log bytes.Buffer
			l := begin(t, dir, opt, Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
			l.store.Shelf("scripted").Put(p[:280], state)
			l.end(t)
			l = begin(t, dir, opt, Config{Log: slog.New(slog.NewTextHandler(&log, nil))})
			r, got := answer(t, l.Engine, Request{Prompt: p, MaxTokens: 3})
			alone := newEngine(t, scripted.Random(1), scripted.Options{}, Config{})
			if _, want := answer(t, alone, Request{Prompt: p, MaxTokens: 3}); !slices.Equal(got, want) || r.CachedTokens != 0 {
				t.Errorf("%s: %v with %d tokens cached, want %v", what, got, r.CachedTokens, want)
			}
			l.end(t)
			if names := fileNames(t, dir); len(names) != 1 || !strings.HasSuffix(names[0], "-299.prompt") { // the right one
				t.Errorf("%s: there is %v", what, names)
			}
			if !strings.Contains(log.String(), "cannot be restored") {
				t.Errorf("%s: log %s", what, &log)
			}
		}
	})
}

// A prompt that does not fit beside running ones is not read from disk in vain,
// and idle slots make room.
func TestPromptCacheInFullContext(t *testing.T) {
	both(t, func(t *testing.T, opt scripted.Options) {
		dir := t.TempDir()
		p := words(1, 600)
		cfg := Config{Parallel: 2, CacheSlots: 2, Context: backend.ContextParams{Size: 1000}}
		l := begin(t, dir, opt, cfg)
		answer(t, l.Engine, Request{Prompt: p, MaxTokens: 3})
		l.end(t)
		l = begin(t, dir, opt, cfg)
		for i := range uint64(3) {
			answer(t, l.Engine, Request{Prompt: words(10+i, 250), MaxTokens: 3})
		}
		if r, _ := answer(t, l.Engine, Request{Prompt: p, MaxTokens: 3}); r.CachedTokens != 599 {
			t.Errorf("%d tokens cached", r.CachedTokens)
		}
		l.end(t)
	})
}

// Several engines share a folder concurrently.
func TestSharedFolder(t *testing.T) {
	both(t, func(t *testing.T, opt scripted.Options) {
		dir := t.TempDir()
		alone := newEngine(t, scripted.Random(1), scripted.Options{}, Config{Queue: 1000})
		var wg sync.WaitGroup
		for i := range 3 {
			store, err := promptcache.Open(dir, 20_000, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			e := newEngine(t, scripted.Random(1), opt, Config{Parallel: 2, CacheSlots: -1, PromptCache: store})
			for j := range 2 {
				wg.Go(func() {
					for k := range 15 {
						p := joined(words(uint64(k%4), 300), words(uint64(i*100+j*10+k), 20))
						_, got := answer(t, e, Request{Prompt: p, Marks: []int{300}, MaxTokens: 5})
						if _, want := answer(t, alone, Request{Prompt: p, MaxTokens: 5}); !slices.Equal(got, want) {
							t.Errorf("engine %d: %v, want %v", i, got, want)
						}
					}
				})
			}
		}
		wg.Wait()
	})
}

// A prompt that exceeds the folder's limit is logged once, and not saved for every
// request.
func TestPromptTooLongForCache(t *testing.T) {
	var log bytes.Buffer
	store, err := promptcache.Open(t.TempDir(), 4000, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	saved := 0
	e := newHooked(t, scripted.Options{}, Config{PromptCache: store, CheckpointBytes: -1, Log: slog.New(slog.NewTextHandler(&log, nil))},
		hookedContext{saved: func(int32) error { saved++; return nil }})
	for i := range uint64(4) {
		answer(t, e, Request{Prompt: words(i, 1000), MaxTokens: 3})
	}
	e.Close()
	if saved != 1 || strings.Count(log.String(), "larger than the prompt cache takes") != 1 {
		t.Errorf("%d states saved; log %s", saved, &log)
	}
}

// A prefix that several requests share is saved once; solo requests neither save
// nor read.
func TestSavedOnce(t *testing.T) {
	both(t, func(t *testing.T, opt scripted.Options) {
		dir := t.TempDir()
		system := words(1, 500)
		store := openStore(t, dir)
		var saved []int32
		// The first batch waits until all are submitted, so that they are admitted
		// together.
		submitted := make(chan struct{})
		opt.Fault = func(int, *backend.Batch) error { <-submitted; return nil }
		e := newHooked(t, opt, Config{Parallel: 5, PromptCache: store},
			hookedContext{saved: func(n int32) error { saved = append(saved, n); return nil }})
		var streams []*Stream
		for i := range uint64(5) {
			p := joined(system, words(10+i, 20))
			if i == 0 {
				p = words(5, 10)
			}
			s, err := e.Submit(t.Context(), Request{Prompt: p, Marks: []int{500}, MaxTokens: 3, Sampling: greedy})
			if err != nil {
				t.Fatal(err)
			}
			poll.Until(func() bool { return e.Stats().Active > 0 })
			streams = append(streams, s)
		}
		close(submitted)
		for _, s := range streams {
			if _, err := s.Collect(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if n := len(slices.DeleteFunc(slices.Clone(saved), func(n int32) bool { return n != 500 })); n != 1 {
			t.Errorf("the system text was saved %d times: %v", n, saved)
		}
		e.Close()
		store.Close()
		saved = nil
		l := begin(t, dir, scripted.Options{Recurrent: opt.Recurrent}, Config{})
		r, _ := answer(t, l.Engine, Request{Prompt: joined(system, words(20, 900)), Marks: []int{500, 1100}, MaxTokens: 3, Solo: true})
		if s := l.store.Stats(); r.CachedTokens != 0 || s.Read != 0 {
			t.Errorf("a solo with %d tokens cached; %+v", r.CachedTokens, s)
		}
		l.end(t)
		if names := fileNames(t, dir); len(names) != 1 {
			t.Errorf("there are %v", names)
		}
	})
}

// A closed store does not make an engine fail.
func TestClosedStore(t *testing.T) {
	l := begin(t, t.TempDir(), scripted.Options{}, Config{})
	if err := l.store.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r, _ := answer(t, l.Engine, Request{Prompt: words(1, 500), MaxTokens: 3}); r.CompletionTokens != 3 {
			t.Errorf("%+v", r)
		}
	}
}

// An engine that is closed while prompts are read from disk leaves nothing behind.
func TestCloseWhileReading(t *testing.T) {
	dir := t.TempDir()
	l := begin(t, dir, scripted.Options{}, Config{})
	for i := range uint64(8) {
		answer(t, l.Engine, Request{Prompt: words(i, 2000), MaxTokens: 3})
	}
	l.end(t)
	for round := range 20 {
		l := begin(t, dir, scripted.Options{}, Config{Parallel: 3})
		var streams []*Stream
		for i := range uint64(8) {
			s, err := l.Submit(t.Context(), Request{Prompt: words(i, 2000), MaxTokens: 3, Sampling: greedy})
			if err != nil {
				t.Fatal(err)
			}
			streams = append(streams, s)
		}
		if round%2 == 0 {
			for _, s := range streams {
				s.Close()
			}
		}
		if round%4 == 1 {
			if err := l.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
			for i, s := range streams {
				if r, err := s.Collect(t.Context()); err != nil || r[0].CachedTokens != 1999 {
					t.Errorf("request %d: %v", i, err)
				}
			}
		}
		l.end(t)
		for _, s := range streams {
			for {
				if _, err := s.Next(t.Context()); err != nil {
					break
				}
			}
		}
	}
}
