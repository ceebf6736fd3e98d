package engine

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"stencil/decoder"
	"stencil/schema"
	"stencil/vocab"
)

// Schemas compiles JSON Schemas for one vocabulary and keeps the ones used
// last, with all that their grammars have learnt. It is safe for concurrent
// use.
type Schemas struct {
	vocab *vocab.Vocab
	cache *cache[schemaKey, *CompiledSchema]
}

// schemaKey is the content of a request's schema: equal text, equal options.
type schemaKey struct {
	text [sha256.Size]byte
	opt  schema.Options
}

// A CompiledSchema is a schema ready for use as a constraint. It is safe for
// concurrent use.
type CompiledSchema struct {
	Source     []byte // the document, read-only
	Report     schema.Report
	Bound      *decoder.Grammar
	Constraint Constraint

	compiled *schema.Schema
	vocab    *vocab.Vocab
	key      schemaKey

	once      sync.Once
	validator *Validator
	unchecked error
}

// Document returns the schema as a part of a sequence.
func (s *CompiledSchema) Document() Document {
	return Document{fmt.Sprintf("schema %x %+v", s.key.text, s.key.opt), func() (*decoder.Grammar, error) { return s.compiled.Grammar(s.vocab), nil }}
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
	return &Schemas{vocab: v, cache: newCache[schemaKey, *CompiledSchema](limit)}
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
	return c.cache.get(key, func() (*CompiledSchema, error) {
		s, err := schema.Compile(src, opt)
		if err != nil {
			return nil, err
		}
		bound := s.Grammar(c.vocab)
		return &CompiledSchema{
			Source:     append([]byte(nil), src...),
			Report:     s.Report(),
			Bound:      bound,
			Constraint: Grammar(bound),
			compiled:   s, vocab: c.vocab, key: key,
		}, nil
	})
}

// Stats returns how often a schema was asked for that was there, and that was
// not.
func (c *Schemas) Stats() CacheStats { return c.cache.counts() }
