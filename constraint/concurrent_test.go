package constraint

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stencil-json/stencil/schema"
)

// When a thousand concurrent requests use fifty schemas, each schema is
// compiled once, and its tables are shared.
func TestSchemasUnderLoad(t *testing.T) {
	const requests, schemas = 1000, 50
	c := NewSchemas(testVocab(t), schemas)
	sources := make([][]byte, schemas)
	for i := range sources {
		sources[i] = fmt.Appendf(nil, `{"type": "object", "properties": {"k%d": {"type": "string", "pattern": "^[a-z]{%d}$"}, "n": {"minimum": %d}}, "required": ["n"]}`, i, 1+i%7, i)
	}
	var first [schemas]atomic.Pointer[CompiledSchema]
	start := make(chan struct{})
	var wg sync.WaitGroup
	for r := range requests {
		wg.Go(func() {
			<-start
			for i := range schemas {
				i := (i*7 + r) % schemas
				s, err := c.Compile(t.Context(), sources[i], schema.Options{})
				if err != nil {
					t.Error(err)
					return
				}
				if !first[i].CompareAndSwap(nil, s) && first[i].Load() != s {
					t.Errorf("schema %d was compiled twice", i)
				}
				if (r+i)%10 > 0 {
					continue
				}
				m := s.Bound.NewMatcher()
				if _, err := m.Mask(); err != nil {
					t.Error(err)
				}
				if _, err := m.AcceptBytes(fmt.Appendf(nil, `{"n":%d}`, i)); err != nil || !m.Accepting() {
					t.Errorf("schema %d: %v", i, err)
				}
			}
		})
	}
	close(start)
	wg.Wait()
	if got := c.Stats(); got.Misses != schemas || got.Hits != (requests-1)*schemas {
		t.Errorf("%d compiled and %d found there, want %d and %d", got.Misses, got.Hits, schemas, (requests-1)*schemas)
	}
}
