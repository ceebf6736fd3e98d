package constraint

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/vocab"
)

// Schemas compiles JSON Schemas for one vocabulary and keeps the ones used
// last, with all that their grammars have learnt. It is safe for concurrent
// use.
type Schemas struct {
	vocab *vocab.Vocab
	cache *cache[schemaKey, *CompiledSchema]

	// Limits hold for schemas whose options have none. They are set before the first one is compiled.
	Limits schema.Limits
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
	Constraint engine.Constraint

	compiled *schema.Schema
	vocab    *vocab.Vocab
	key      schemaKey

	checking  sync.Mutex
	validator *Validator // nil until it was needed
	unchecked error      // why there is none
}

// Document returns the schema as a part of a sequence.
func (s *CompiledSchema) Document() Document {
	return Document{fmt.Sprintf("schema %x %+v", s.key.text, s.key.opt), func() (*decoder.Grammar, error) { return s.compiled.Grammar(s.vocab), nil }}
}

// Validate checks a document with a validator that shares no code with the
// constraint engine. Errors: *InvalidDocumentError; any other says why there
// is no verdict.
func (s *CompiledSchema) Validate(ctx context.Context, document []byte) error {
	v, err := s.independent(ctx)
	if err != nil {
		return err
	}
	return v.Validate(ctx, document)
}

// independent returns the validator, compiled if it is the first time. What a
// request that ended has not finished, the next one begins anew.
func (s *CompiledSchema) independent(ctx context.Context) (*Validator, error) {
	s.checking.Lock()
	defer s.checking.Unlock()
	if s.validator == nil && s.unchecked == nil {
		v, err := NewValidator(ctx, s.Source, s.Report.Draft)
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		s.validator, s.unchecked = v, err
	}
	return s.validator, s.unchecked
}

// bytes is the memory that it takes, approximately.
func (s *CompiledSchema) bytes() int {
	const parsed = 64 // bytes of the parsed schema and its validator, for a byte of its text
	return 1<<14 + parsed*len(s.Source) + s.Bound.Held()
}

// KeepBytes has the cache keep no more than so many bytes. It is called before the
// first schema is compiled.
func (c *Schemas) KeepBytes(n int) { c.cache.room = n }

// Instruction tells a model in words which JSON is wanted: masks see to the
// form, but only what the model reads can guide what it writes. The schema is
// its source without whitespace, names and descriptions included.
func (s *CompiledSchema) Instruction() string {
	var b bytes.Buffer
	if err := json.Compact(&b, s.Source); err != nil {
		b.Reset()
		b.Write(s.Source)
	}
	if schema := b.String(); schema != "{}" && schema != "true" {
		return fmt.Sprintf("Answer with JSON that fits this JSON Schema, and nothing else:\n%s", schema)
	}
	return "Answer with JSON and nothing else."
}

// NewSchemas keeps up to limit schemas.
func NewSchemas(v *vocab.Vocab, limit int) *Schemas {
	return &Schemas{vocab: v, cache: newCache[schemaKey](limit, (*CompiledSchema).bytes)}
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
// of schema.CompileContext.
func (c *Schemas) Compile(ctx context.Context, src []byte, opt schema.Options) (*CompiledSchema, error) {
	if opt.Limits == (schema.Limits{}) {
		opt.Limits = c.Limits
	}
	key := schemaKey{sha256.Sum256(src), opt}
	return c.cache.get(ctx, key, func() (*CompiledSchema, error) {
		s, err := schema.CompileContext(ctx, src, opt)
		if err != nil {
			return nil, err
		}
		bound := s.Grammar(c.vocab)
		return &CompiledSchema{
			Source:     append([]byte(nil), src...),
			Report:     s.Report(),
			Bound:      bound,
			Constraint: engine.Grammar(bound),
			compiled:   s, vocab: c.vocab, key: key,
		}, nil
	})
}

// Stats returns how often a schema was asked for that was there, and that was
// not.
func (c *Schemas) Stats() CacheStats { return c.cache.counts() }
