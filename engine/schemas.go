package engine

import (
	"container/list"
	"crypto/sha256"
	"sync"

	"stencil/schema"
	"stencil/vocab"
)

// Schemas compiles JSON Schemas for one vocabulary and keeps the ones used
// last, with all that their grammars have learnt. It is safe for concurrent
// use.
type Schemas struct {
	vocab *vocab.Vocab
	limit int

	mu      sync.Mutex
	entries map[schemaKey]*list.Element
	recent  *list.List // of *schemaEntry, the last used first
}

// schemaKey is the content of a request's schema: equal text, equal options.
type schemaKey struct {
	text [sha256.Size]byte
	opt  schema.Options
}

type schemaEntry struct {
	key  schemaKey
	once sync.Once
	done *CompiledSchema
	err  error
}

// A CompiledSchema is a schema ready for use as a constraint. It is safe for
// concurrent use.
type CompiledSchema struct {
	Source     []byte // the document, read-only
	Report     schema.Report
	Constraint Constraint

	once      sync.Once
	validator *Validator
	unchecked error
}

// Validate checks a document with a validator that shares no code with the
// constraint engine. Errors: *InvalidDocumentError; any other says why there
// is no verdict.
func (s *CompiledSchema) Validate(document []byte) error {
	s.once.Do(func() { s.validator, s.unchecked = NewValidator(s.Source, s.Report.Draft) })
	if s.unchecked != nil {
		return s.unchecked
	}
	return s.validator.Validate(document)
}

// NewSchemas keeps up to limit schemas.
func NewSchemas(v *vocab.Vocab, limit int) *Schemas {
	return &Schemas{vocab: v, limit: limit, entries: make(map[schemaKey]*list.Element), recent: list.New()}
}

// warmSchema and warmDocument visit every kind of place for which something is
// prepared once for a vocabulary.
const (
	warmSchema = `{"type": "object", "properties": {
		"a": {"type": "string"}, "b": {"type": "string", "maxLength": 9}, "c": {"type": "string", "pattern": "^[a-f0-9]*$"},
		"d": {"type": "string", "pattern": "^[^/]*$"}, "e": {"type": "number"}, "f": {}}}`
	warmDocument = `{ "a": "x\"y", "b": "x", "c": "0", "d": "x", "e": 1.5, "f": [true, null, {"x": "y"}]}`
)

// Warm prepares what is prepared once for a vocabulary. It takes up to a second
// for a large one, which the first constrained request would have to wait for.
func (c *Schemas) Warm() error {
	s, err := schema.Compile([]byte(warmSchema), schema.Options{Whitespace: schema.Flexible(0)})
	if err != nil {
		return err
	}
	m := s.Grammar(c.vocab).NewMatcher()
	for i := range len(warmDocument) {
		if _, err := m.Mask(); err != nil {
			return err
		}
		if _, err := m.AcceptBytes([]byte{warmDocument[i]}); err != nil {
			return err
		}
	}
	return nil
}

// Compile returns the compiled schema, from the cache if it is there. A schema
// that several requests ask for at once is compiled once. The errors are those
// of schema.Compile.
func (c *Schemas) Compile(src []byte, opt schema.Options) (*CompiledSchema, error) {
	key := schemaKey{sha256.Sum256(src), opt}
	c.mu.Lock()
	el := c.entries[key]
	if el == nil {
		el = c.recent.PushFront(&schemaEntry{key: key})
		c.entries[key] = el
		if c.recent.Len() > c.limit {
			c.forget(c.recent.Back())
		}
	} else {
		c.recent.MoveToFront(el)
	}
	entry := el.Value.(*schemaEntry)
	c.mu.Unlock()

	entry.once.Do(func() {
		s, err := schema.Compile(src, opt)
		if err != nil {
			entry.err = err
			return
		}
		entry.done = &CompiledSchema{
			Source:     append([]byte(nil), src...),
			Report:     s.Report(),
			Constraint: Grammar(s.Grammar(c.vocab)),
		}
	})
	if entry.err != nil {
		c.mu.Lock()
		if c.entries[key] == el {
			c.forget(el) // a mistake is not worth a place
		}
		c.mu.Unlock()
		return nil, entry.err
	}
	return entry.done, nil
}

func (c *Schemas) forget(el *list.Element) {
	c.recent.Remove(el)
	delete(c.entries, el.Value.(*schemaEntry).key)
}
