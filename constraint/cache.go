package constraint

import (
	"container/list"
	"context"
	"sync"
)

// A cache keeps what was compiled, by a key, as far as it has been used lately: up to
// a number of entries and of bytes. What several ask for at once is compiled once.
type cache[K comparable, V any] struct {
	limit int
	room  int         // bytes
	size  func(V) int // of an entry as it is now, in bytes

	mu      sync.Mutex
	entries map[K]*list.Element
	recent  *list.List // of *cacheEntry, the last used first
	stats   CacheStats
}

// CacheStats are counts since a cache was made, and what it holds.
type CacheStats struct {
	Hits, Misses uint64
	Entries      int
	Bytes        int
}

// DefaultCacheBytes is how much memory each of the caches may take if nothing else
// is said.
const DefaultCacheBytes = 512 << 20

type cacheEntry[K comparable, V any] struct {
	key   K
	ready chan struct{} // closed when done and err are set
	done  V
	err   error
	gone  bool // who compiled gave up: the next one begins anew
}

func newCache[K comparable, V any](limit int, size func(V) int) *cache[K, V] {
	return &cache[K, V]{limit: limit, room: DefaultCacheBytes, size: size, entries: make(map[K]*list.Element), recent: list.New()}
}

// get returns what is kept for a key, or else what compile returns. Errors are kept
// for those that wait for them at the same time, not longer. Who waits for another's
// compiling stops when ctx ends, and compiles anew if the other was stopped by its own.
func (c *cache[K, V]) get(ctx context.Context, key K, compile func() (V, error)) (V, error) {
	for {
		entry, mine := c.entry(key)
		if mine {
			c.compile(ctx, entry, compile)
			return entry.done, entry.err
		}
		select {
		case <-entry.ready:
			if !entry.gone {
				return entry.done, entry.err
			}
		case <-ctx.Done():
			var none V
			return none, context.Cause(ctx)
		}
	}
}

// entry returns the entry for a key, and whether the caller is to compile it.
func (c *cache[K, V]) entry(key K) (entry *cacheEntry[K, V], mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if el := c.entries[key]; el != nil {
		c.stats.Hits++
		c.recent.MoveToFront(el)
		c.trim() // what was learnt since counts too
		return el.Value.(*cacheEntry[K, V]), false
	}
	c.stats.Misses++
	entry = &cacheEntry[K, V]{key: key, ready: make(chan struct{})}
	c.entries[key] = c.recent.PushFront(entry)
	return entry, true
}

// compile fills an entry, and forgets others if it takes their place.
func (c *cache[K, V]) compile(ctx context.Context, entry *cacheEntry[K, V], compile func() (V, error)) {
	finished := false
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if entry.gone = !finished || entry.err != nil && ctx.Err() != nil; entry.gone || entry.err != nil {
			// A mistake is not worth a place. Nobody else removes the entry before.
			if el := c.entries[entry.key]; el != nil && el.Value == any(entry) {
				c.forget(el)
			}
		}
		close(entry.ready)
		c.trim()
	}()
	entry.done, entry.err = compile()
	finished = true
}

// trim forgets what was not used for longest until the rest has room. What is being
// compiled stays, and so does the last one used.
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
