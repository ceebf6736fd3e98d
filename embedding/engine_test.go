package embedding

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/internal/poll"
	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/vocab"
)

// wordsVocab returns the built-in vocabulary of words, read back from a model
// file.
var wordsVocab = sync.OnceValues(func() (*vocab.Vocab, error) {
	dir, err := os.MkdirTemp("", "stencil-embedding-test")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "bert.gguf")
	if err := models.WriteRandom(path, models.RandomOptions{Arch: "bert", Layers: 1, Width: 16}); err != nil {
		return nil, err
	}
	return vocab.Load(path)
})

func words(t testing.TB) *vocab.Vocab {
	t.Helper()
	v, err := wordsVocab()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func newEngine(t testing.TB, opt scripted.EmbedOptions, cfg Config) *Engine {
	t.Helper()
	m := scripted.NewEmbedding(words(t), opt)
	e, err := New(m, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(e.Close(), e.Close(), m.Close()); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return e
}

// The rows are in the order of the inputs, regardless of their batches.
func TestRows(t *testing.T) {
	var batches [][]int
	e := newEngine(t, scripted.EmbedOptions{MaxTokens: 40, MaxInputs: 3, Fault: func(_ int, inputs [][]int32) error {
		var sizes []int
		for _, in := range inputs {
			sizes = append(sizes, len(in))
		}
		batches = append(batches, sizes)
		return nil
	}}, Config{})
	sizes := []int{3, 10, 38, 2, 1, 1, 1, 40, 5}
	var inputs [][]int32
	tokens := 0
	for i, n := range sizes {
		one := make([]int32, n)
		for j := range one {
			one[j] = int32(5 + i*40 + j)
		}
		inputs = append(inputs, one)
		tokens += n
	}
	got, err := e.Embed(t.Context(), Request{Inputs: inputs})
	if err != nil {
		t.Fatal(err)
	}
	if got.Tokens != tokens || len(got.Rows) != len(inputs) {
		t.Errorf("%d tokens, %d rows", got.Tokens, len(got.Rows))
	}
	for i, in := range inputs {
		one, err := e.Embed(t.Context(), Request{Inputs: [][]int32{in}})
		if err != nil || !slices.Equal(one.Rows[0], got.Rows[i]) {
			t.Errorf("input %d: %v, alone %v, %v", i, got.Rows[i], one, err)
		}
	}
	want := [][]int{{3, 10}, {38, 2}, {1, 1, 1}, {40}, {5}}
	if fmt.Sprint(batches[:len(want)]) != fmt.Sprint(want) {
		t.Errorf("batches %v, want %v", batches[:len(want)], want)
	}
	s := e.Stats()
	if n := uint64(len(inputs)); s.Inputs != 2*n || s.Tokens != uint64(2*tokens) || s.Requests != 1+n || s.Batches != uint64(len(batches)) || s.Queued != 0 || s.Active != 0 {
		t.Errorf("%+v", s)
	}
}

func TestRefusals(t *testing.T) {
	e := newEngine(t, scripted.EmbedOptions{MaxTokens: 1024}, Config{})
	ok := []int32{7}
	for name, c := range map[string]struct {
		inputs [][]int32
		want   string
	}{
		"none":       {nil, "embedding: 0 inputs in one request, at most 2048 are possible"},
		"many":       {slices.Repeat([][]int32{ok}, MaxInputs+1), "embedding: 2049 inputs in one request, at most 2048 are possible"},
		"empty":      {[][]int32{ok, {}}, "embedding: input 1 has no tokens"},
		"long":       {[][]int32{ok, ok, make([]int32, 1025)}, "embedding: input 2 has 1025 tokens, the model reads at most 1024"},
		"token":      {[][]int32{{7, int32(words(t).Len())}}, fmt.Sprintf("embedding: input 0 has the token %d, the vocabulary ends at %[2]d", words(t).Len(), words(t).Len()-1)},
		"negative":   {[][]int32{{-1}}, fmt.Sprintf("embedding: input 0 has the token -1, the vocabulary ends at %d", words(t).Len()-1)},
		"all tokens": {slices.Repeat([][]int32{make([]int32, 1024)}, 1025), "embedding: 1049600 tokens in one request, at most 1048576 are possible"},
	} {
		if _, err := e.Embed(t.Context(), Request{Inputs: c.inputs}); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s := e.Stats(); s.Requests != 0 || s.Batches != 0 {
		t.Errorf("%+v", s)
	}
	if _, err := New(scripted.NewEmbedding(words(t), scripted.EmbedOptions{}), Config{Queue: -1}); err == nil {
		t.Error("a queue of -1")
	}
}

// gate blocks a backend at each batch.
type gate struct {
	arrived chan [][]int32
	pass    chan error
}

func newGate() *gate { return &gate{make(chan [][]int32), make(chan error)} }

func (g *gate) fault(_ int, inputs [][]int32) error {
	g.arrived <- inputs
	return <-g.pass
}

// embedAll starts a request and returns a channel with its result.
func embedAll(ctx context.Context, e *Engine, client string, inputs ...[]int32) <-chan error {
	out := make(chan error, 1)
	go func() {
		_, err := e.Embed(ctx, Request{Client: client, Inputs: inputs})
		out <- err
	}()
	return out
}

func waitQueued(e *Engine, n int) {
	poll.Until(func() bool { return e.Stats().Queued == n })
}

func waitActive(e *Engine) {
	poll.Until(func() bool { return e.Stats().Active > 0 })
}

// Clients take turns, input by input, and so do the requests of one.
func TestFairness(t *testing.T) {
	g := newGate()
	e := newEngine(t, scripted.EmbedOptions{MaxInputs: 2, Fault: g.fault}, Config{})
	first := embedAll(t.Context(), e, "a", []int32{10}, []int32{11}, []int32{12}, []int32{13}, []int32{14}, []int32{15})
	if got := <-g.arrived; fmt.Sprint(got) != "[[10] [11]]" {
		t.Error(got)
	}
	second := embedAll(t.Context(), e, "b", []int32{20}, []int32{21})
	waitQueued(e, 2)
	third := embedAll(t.Context(), e, "b", []int32{30})
	waitQueued(e, 3)
	g.pass <- nil
	for _, want := range []string{"[[12] [20]]", "[[13] [30]]", "[[14] [21]]", "[[15]]"} {
		if got := <-g.arrived; fmt.Sprint(got) != want {
			t.Errorf("%v, want %s", got, want)
		}
		g.pass <- nil
	}
	for _, c := range []<-chan error{first, second, third} {
		if err := <-c; err != nil {
			t.Error(err)
		}
	}
}

func TestQueueFull(t *testing.T) {
	g := newGate()
	e := newEngine(t, scripted.EmbedOptions{MaxInputs: 1, Fault: g.fault}, Config{Queue: 2})
	running := embedAll(t.Context(), e, "a", []int32{10})
	<-g.arrived
	one, two := embedAll(t.Context(), e, "a", []int32{11}), embedAll(t.Context(), e, "b", []int32{12}) // in either order
	waitQueued(e, 2)
	if _, err := e.Embed(t.Context(), Request{Inputs: [][]int32{{13}}}); !errors.Is(err, ErrQueueFull) {
		t.Errorf("%v", err)
	}
	if s := e.Stats(); s.Refused != 1 || s.Requests != 3 {
		t.Errorf("%+v", s)
	}
	g.pass <- nil
	for range 2 {
		<-g.arrived
		g.pass <- nil
	}
	for _, c := range []<-chan error{running, one, two} {
		if err := <-c; err != nil {
			t.Error(err)
		}
	}
}

// A cancelled request leaves the queue, and a batch without other requests is
// stopped.
func TestCancel(t *testing.T) {
	e := newEngine(t, scripted.EmbedOptions{MaxInputs: 1, Delay: time.Hour}, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	running := embedAll(ctx, e, "a", []int32{10}, []int32{11})
	waitActive(e) // with the first input; the second waits
	waiting, giveUp := context.WithCancel(t.Context())
	other := embedAll(waiting, e, "a", []int32{12})
	waitQueued(e, 2)
	giveUp()
	if err := <-other; !errors.Is(err, context.Canceled) {
		t.Errorf("waiting: %v", err)
	}
	cancel()
	if err := <-running; !errors.Is(err, context.Canceled) {
		t.Errorf("running: %v", err)
	}
	poll.Until(func() bool {
		s := e.Stats()
		return s.Active == 0 && s.Queued == 0 && s.Cancelled == 2
	})
	if _, err := e.Embed(t.Context(), Request{Inputs: [][]int32{{1}}, Timeout: time.Millisecond}); !errors.Is(err, ErrTimeout) {
		t.Errorf("a time limit: %v", err)
	}
}

// A failed batch fails the requests in it, and no others.
func TestFailure(t *testing.T) {
	broken := errors.New("the device is gone")
	e := newEngine(t, scripted.EmbedOptions{MaxInputs: 1, Fault: func(_ int, inputs [][]int32) error {
		if inputs[0][0] == 13 {
			return broken
		}
		return nil
	}}, Config{})
	if err := <-embedAll(t.Context(), e, "a", []int32{12}, []int32{13}, []int32{14}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if err := <-embedAll(t.Context(), e, "a", []int32{15}); err != nil {
		t.Error(err)
	}
	if s := e.Stats(); s.Queued != 0 || s.Inputs != 2 || s.Cancelled != 0 {
		t.Errorf("%+v", s)
	}
}

func TestClose(t *testing.T) {
	m := scripted.NewEmbedding(words(t), scripted.EmbedOptions{MaxInputs: 1, Delay: time.Hour})
	e, err := New(m, Config{})
	if err != nil {
		t.Fatal(err)
	}
	running := embedAll(t.Context(), e, "a", []int32{10})
	waitActive(e)
	waiting := embedAll(t.Context(), e, "a", []int32{11}, []int32{12})
	waitQueued(e, 1)
	if err := m.Close(); !errors.Is(err, backend.ErrBusy) {
		t.Errorf("closing the model: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	for _, c := range []<-chan error{running, waiting} {
		if err := <-c; !errors.Is(err, ErrClosed) {
			t.Errorf("%v", err)
		}
	}
	if _, err := e.Embed(t.Context(), Request{Inputs: [][]int32{{1}}}); !errors.Is(err, ErrClosed) {
		t.Errorf("afterwards: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// Waiting requests are still answered during a shutdown.
func TestShutdown(t *testing.T) {
	g := newGate()
	e := newEngine(t, scripted.EmbedOptions{MaxInputs: 1, Fault: g.fault}, Config{})
	running := embedAll(t.Context(), e, "a", []int32{10}, []int32{11})
	<-g.arrived
	down := make(chan error)
	go func() { down <- e.Shutdown(context.Background()) }()
	for {
		if _, err := e.Embed(t.Context(), Request{Inputs: [][]int32{{1}}, Timeout: time.Millisecond}); errors.Is(err, ErrClosed) {
			break
		}
	}
	g.pass <- nil
	for {
		select {
		case <-g.arrived:
			g.pass <- nil
			continue
		case err := <-running:
			if err != nil {
				t.Error(err)
			}
		}
		break
	}
	if err := <-down; err != nil {
		t.Error(err)
	}
	broken := newEngine(t, scripted.EmbedOptions{Delay: time.Hour}, Config{})
	stuck := embedAll(t.Context(), broken, "a", []int32{10})
	waitActive(broken)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := broken.Shutdown(gone); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := <-stuck; !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestNotFinite(t *testing.T) {
	for _, row := range [][]float32{{1, float32(math.NaN())}, {float32(math.Inf(-1)), 0}} {
		if finite(row) {
			t.Error(row)
		}
	}
	if !finite([]float32{0, -1, math.MaxFloat32}) {
		t.Error("numbers are refused")
	}
}

func TestVectors(t *testing.T) {
	row := []float32{3, 4, 12}
	short := Shorten(row, 2)
	Normalize(short)
	if !slices.Equal(row, []float32{0.6, 0.8, 12}) || len(Shorten(row, 7)) != 3 {
		t.Error(row)
	}
	zero := []float32{0, 0}
	if Normalize(zero); !slices.Equal(zero, []float32{0, 0}) {
		t.Error(zero)
	}
	large := []float32{3e38, -3e38}
	if Normalize(large); math.Abs(float64(large[0])-math.Sqrt2/2) > 1e-6 {
		t.Error(large)
	}
}

// Turns are counted by tokens, and a full queue takes a request of a client that has fewer than another.
func TestFairShares(t *testing.T) {
	g := newGate()
	e := newEngine(t, scripted.EmbedOptions{MaxInputs: 1, Fault: g.fault}, Config{Queue: 4})
	long := []int32{10, 10, 10, 10, 10, 10}
	running := embedAll(t.Context(), e, "a", []int32{10})
	<-g.arrived
	first := embedAll(t.Context(), e, "a", long, long)
	waitQueued(e, 1)
	var more []<-chan error
	for i := range 3 {
		more = append(more, embedAll(t.Context(), e, "a", []int32{15}))
		waitQueued(e, 2+i)
	}
	second := embedAll(t.Context(), e, "b", []int32{20}, []int32{21}, []int32{22}, []int32{23})
	if err := <-more[2]; !errors.Is(err, ErrQueueFull) {
		t.Errorf("the newest of the client with the most: %v", err)
	}
	waitQueued(e, 4)
	g.pass <- nil
	for _, want := range []string{"[[10 10 10 10 10 10]]", "[[20]]", "[[21]]", "[[22]]", "[[23]]", "[[15]]", "[[15]]", "[[10 10 10 10 10 10]]"} {
		if got := <-g.arrived; fmt.Sprint(got) != want {
			t.Errorf("%v, want %s", got, want)
		}
		g.pass <- nil
	}
	for _, c := range []<-chan error{running, first, more[0], more[1], second} {
		if err := <-c; err != nil {
			t.Error(err)
		}
	}
	if s := e.Stats(); s.Refused != 1 || s.Requests != 5 {
		t.Errorf("%+v", s)
	}
}
