package constraint

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"

	"github.com/stencil-json/stencil/meter"
)

// A cache keeps the values most recently used, by key, up to a number of entries and of
// bytes. Concurrent requests for one key compile its value once.
type cache[K comparable, V any] struct {
	limit int
	room  int         // maximum total size, in bytes
	size  func(V) int // current size of an entry, in bytes

	mu      sync.Mutex
	entries map[K]*list.Element
	recent  *list.List // of *cacheEntry, the last used first
	stats   CacheStats
}

// CacheStats are counts since a cache was created, and its current contents.
type CacheStats struct {
	Hits, Misses uint64
	Entries      int
	Bytes        int
}

// DefaultCacheBytes is the default maximum size of each of the caches.
const DefaultCacheBytes = 512 << 20

type cacheEntry[K comparable, V any] struct {
	key   K
	ready chan struct{} // closed when done and err are set
	done  V
	err   error
	gone  bool // compile was cut short: waiting callers compile again

	waiting atomic.Int32 // callers
}

func newCache[K comparable, V any](limit int, size func(V) int) *cache[K, V] {
	return &cache[K, V]{limit: limit, room: DefaultCacheBytes, size: size, entries: make(map[K]*list.Element), recent: list.New()}
}

// get returns the value of a key, from the cache or else from compile. An error is
// returned to the callers that wait for the same compilation, and not kept. A caller
// that waits for another's compilation stops when ctx ends, and compiles the value
// itself if the other was stopped by its own context. Compilation keeps to the pace of ctx
// unless others wait.
func (c *cache[K, V]) get(ctx context.Context, key K, compile func(ctx context.Context) (V, error)) (V, error) {
	for {
		entry, mine := c.entry(key)
		if mine {
			c.compile(meter.Unless(ctx, func() bool { return entry.waiting.Load() > 0 }), entry, compile)
			return entry.done, entry.err
		}
		entry.waiting.Add(1)
		select {
		case <-entry.ready:
			entry.waiting.Add(-1)
			if !entry.gone {
				return entry.done, entry.err
			}
		case <-ctx.Done():
			entry.waiting.Add(-1)
			var none V
			return none, context.Cause(ctx)
		}
	}
}

// entry returns the entry for a key, and whether the caller has to compile it.
func (c *cache[K, V]) entry(key K) (entry *cacheEntry[K, V], mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el := c.entries[key]; el != nil {
		c.stats.Hits++
		c.recent.MoveToFront(el)
		c.trim() // entries grow with use
		return el.Value.(*cacheEntry[K, V]), false
	}
	c.stats.Misses++
	entry = &cacheEntry[K, V]{key: key, ready: make(chan struct{})}
	c.entries[key] = c.recent.PushFront(entry)
	return entry, true
}

// compile fills an entry, and evicts others if there is no room.
func (c *cache[K, V]) compile(ctx context.Context, entry *cacheEntry[K, V], compile func(ctx context.Context) (V, error)) {
	finished := false
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if entry.gone = !finished || entry.err != nil && ctx.Err() != nil; entry.gone || entry.err != nil {
			// Errors are not kept. No other call removes the entry earlier.
			if el := c.entries[entry.key]; el != nil && el.Value == any(entry) {
				c.forget(el)
			}
		}
		close(entry.ready)
		c.trim()
	}()
	entry.done, entry.err = compile(ctx)
	finished = true
}

// trim evicts the least recently used entries until the rest has room. It keeps entries
// that are being compiled, and the one last used.
func (c *cache[K, V]) trim() {
	total, n := 0, 0
	for el := c.recent.Front(); el != nil; {
		entry, next := el.Value.(*cacheEntry[K, V]), el.Next()
		if n++; isClosed(entry.ready) {
			total += c.size(entry.done)
			if el != c.recent.Front() && (n > c.limit || total > c.room) {
				c.forget(el)
			}
		}
		el = next
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (c *cache[K, V]) forget(el *list.Element) {
	c.recent.Remove(el)
	delete(c.entries, el.Value.(*cacheEntry[K, V]).key)
}

func (c *cache[K, V]) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.recent.Len()
}

func (c *cache[K, V]) counts() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.stats
	for el := c.recent.Front(); el != nil; el = el.Next() {
		if entry := el.Value.(*cacheEntry[K, V]); isClosed(entry.ready) {
			s.Entries, s.Bytes = s.Entries+1, s.Bytes+c.size(entry.done)
		}
	}
	return s
}
