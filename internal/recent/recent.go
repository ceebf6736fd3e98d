// Package recent keeps values that cost time to make, as long as they are used.
package recent

import "sync"

// A Map keeps values under keys. Those used in the last while are kept: once the younger of two generations is full, it
// becomes the older one, whose values are forgotten unless they are used before that happens again. It is safe for
// concurrent use.
type Map[K comparable, V any] struct {
	mu         sync.Mutex
	most       int
	young, old map[K]entry[V]
	size       int // of young
}

type entry[V any] struct {
	value V
	size  int
}

// New returns a map whose generations hold values of the given size in total each.
func New[K comparable, V any](most int) *Map[K, V] {
	return &Map[K, V]{most: most, young: map[K]entry[V]{}}
}

// Get returns the value of a key. Without one, it returns what create returns, of the given size, and keeps it unless its size
// is more than an eighth of a generation's. Others may call create of the same key at the same time.
func (m *Map[K, V]) Get(key K, create func() (value V, size int)) V {
	m.mu.Lock()
	e, ok := m.young[key]
	if !ok {
		if e, ok = m.old[key]; ok {
			m.add(key, e)
		}
	}
	m.mu.Unlock()
	if ok {
		return e.value
	}
	if e.value, e.size = create(); e.size > m.most/8 {
		return e.value
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(key, e)
	return e.value
}

// add adds a value to the younger generation.
func (m *Map[K, V]) add(key K, e entry[V]) {
	if before, ok := m.young[key]; ok {
		m.size -= before.size
	}
	if m.size += e.size; m.size > m.most {
		m.young, m.old, m.size = map[K]entry[V]{}, m.young, e.size
	}
	m.young[key] = e
}
