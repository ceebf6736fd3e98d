package constraint

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/schema"
)

// A cache evicts the least recently used entries, by number and by bytes, and does
// not keep errors.
func TestCacheRoom(t *testing.T) {
	c := newCache[string](10, func(n int) int { return n })
	c.room = 1000
	get := func(key string, n int) {
		t.Helper()
		if got, err := c.get(t.Context(), key, func(context.Context) (int, error) { return n, nil }); got != n || err != nil {
			t.Fatalf("%s: %d, %v", key, got, err)
		}
	}
	for i := range 30 {
		get(fmt.Sprint(i), 1)
	}
	if c.len() != 10 {
		t.Errorf("%d entries are kept, want 10", c.len())
	}
	get("large", 999)
	if s := c.counts(); s.Bytes > 1000 || s.Entries != 2 {
		t.Errorf("%d bytes in %d entries are kept, want 1000 in 2", s.Bytes, s.Entries)
	}
	get("larger", 5000) // is in use, so it stays until another entry is used
	get("29", 7)
	if s := c.counts(); s.Bytes != 7 {
		t.Errorf("%d bytes are kept, want 7", s.Bytes)
	}
	if _, err := c.get(t.Context(), "bad", func(context.Context) (int, error) { return 0, errors.New("bad") }); err == nil || c.len() != 1 {
		t.Errorf("%v, %d entries are kept", err, c.len())
	}
}

// Entries that grow after compilation count with their current size.
func TestCacheGrowth(t *testing.T) {
	c := newCache[string](10, func(n *int) int { return *n })
	c.room = 1000
	var sizes [2]int
	for i := range sizes {
		if _, err := c.get(t.Context(), fmt.Sprint(i), func(context.Context) (*int, error) { return &sizes[i], nil }); err != nil {
			t.Fatal(err)
		}
	}
	sizes[0] = 5000
	if _, err := c.get(t.Context(), "1", nil); err != nil || c.len() != 1 {
		t.Errorf("%v, %d entries are kept, want 1", err, c.len())
	}
}

// Of two callers with the same key, one compiles. If it hangs up, the other one
// compiles; if the other one hangs up, it doesn't wait for the first.
func TestCacheHangUp(t *testing.T) {
	c := newCache[string](10, func(int) int { return 0 })
	began, release := make(chan bool), make(chan bool)
	first, hangUp := context.WithCancel(t.Context())
	results := make(chan error, 2)
	go func() {
		_, err := c.get(first, "x", func(context.Context) (int, error) {
			began <- true
			<-first.Done()
			<-release
			return 0, context.Cause(first)
		})
		results <- err
	}()
	<-began
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.get(gone, "x", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("who hung up got %v", err)
	}
	got := make(chan int)
	go func() {
		n, err := c.get(t.Context(), "x", func(context.Context) (int, error) { return 7, nil })
		results <- err
		got <- n
	}()
	hangUp()
	close(release)
	one, other := <-results, <-results
	if n := <-got; n != 7 || errors.Is(one, context.Canceled) == errors.Is(other, context.Canceled) {
		t.Errorf("got %d, errors %v and %v", n, one, other)
	}
}

// endless is a schema whose shortest document takes minutes to compute: 2,000 items
// that differ.
func endless() []byte {
	items := make([]string, 2000)
	for i := range items {
		items[i] = fmt.Sprintf(`{"type":"integer","minimum":%d}`, i)
	}
	return fmt.Appendf(nil, `{"type":"array","minItems":%d,"prefixItems":[%s]}`, len(items), strings.Join(items, ","))
}

// When a client disconnects, the work on its constraint ends, and its partial results
// don't affect other users of the grammar.
func TestWorkEndsWithContext(t *testing.T) {
	gone := errors.New("gone")
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	c := NewSchemas(testVocab(t), 4)
	if _, err := c.Compile(cancelled, endless(), schema.Options{}); !errors.Is(err, gone) {
		t.Errorf("compiling: %v", err)
	}
	s, err := c.Compile(t.Context(), endless(), schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := s.Bound.NewMatcher()
	m.Bind(cancelled)
	if end := m.ShortestCompletion(); end != nil || !errors.Is(m.Err(), gone) {
		t.Errorf("a completion of %d bytes, error %v", len(end), m.Err())
	}
	if _, err := m.Mask(); !errors.Is(err, gone) {
		t.Errorf("a mask after that: %v", err)
	}
	other := s.Bound.NewMatcher()
	if n, err := other.AcceptBytes([]byte("[0,1,2,")); n != 7 || err != nil || other.Err() != nil {
		t.Errorf("another matcher accepts %d bytes: %v", n, err)
	}
}

// Constraints that exceed the limit of time or memory are refused with the name of
// the limit.
func TestWorkIsBounded(t *testing.T) {
	for _, limit := range []string{"time", "memory"} {
		limits := map[string]schema.Limits{"time": {Time: 1}, "memory": {Memory: 1}}[limit]
		_, err := NewSchemas(testVocab(t), 4).Compile(t.Context(), endless(), schema.Options{Limits: limits})
		var exceeded *schema.LimitError
		if !errors.As(err, &exceeded) || exceeded.Limit != limit {
			t.Errorf("compiling within %s: %v", limit, err)
		}
	}
}
