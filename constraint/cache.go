package constraint

import (
	"container/list"
	"sync"
)

// A cache keeps what was compiled last, with all that it has learnt since. What
// several requests ask for at once is compiled once. A cache is safe for
// concurrent use.
type cache[K comparable, V any] struct {
	limit int

	mu      sync.Mutex
	entries map[K]*list.Element
	recent  *list.List // of *cacheEntry, the last used first
	stats   CacheStats
}

// CacheStats count what was asked of a cache.
type CacheStats struct {
	Hits, Misses uint64
}

type cacheEntry[K comparable, V any] struct {
	key  K
	once sync.Once
	done V
	err  error
}

func newCache[K comparable, V any](limit int) *cache[K, V] {
	return &cache[K, V]{limit: limit, entries: make(map[K]*list.Element), recent: list.New()}
}

// get returns what is under a key, made if it is not there.
func (c *cache[K, V]) get(key K, compile func() (V, error)) (V, error) {
	c.mu.Lock()
	el := c.entries[key]
	if el == nil {
		c.stats.Misses++
		el = c.recent.PushFront(&cacheEntry[K, V]{key: key})
		c.entries[key] = el
		if c.recent.Len() > c.limit {
			c.forget(c.recent.Back())
		}
	} else {
		c.stats.Hits++
		c.recent.MoveToFront(el)
	}
	entry := el.Value.(*cacheEntry[K, V])
	c.mu.Unlock()

	entry.once.Do(func() { entry.done, entry.err = compile() })
	if entry.err != nil {
		c.mu.Lock()
		if c.entries[key] == el {
			c.forget(el) // a mistake is not worth a place
		}
		c.mu.Unlock()
	}
	return entry.done, entry.err
}

func (c *cache[K, V]) forget(el *list.Element) {
	c.recent.Remove(el)
	delete(c.entries, el.Value.(*cacheEntry[K, V]).key)
}

// len returns how much is kept.
func (c *cache[K, V]) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.recent.Len()
}

func (c *cache[K, V]) counts() CacheStats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}
