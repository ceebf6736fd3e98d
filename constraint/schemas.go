package constraint

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/meter"
	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/vocab"
)

// Schemas compiles JSON Schemas for one vocabulary and caches the most recently used ones, together
// with the tables that their grammars have built. It is safe for concurrent use.
type Schemas struct {
	vocab *vocab.Vocab
	cache *cache[schemaKey, *CompiledSchema]

	// Limits apply to schemas whose options have none. They must be set before the first schema is
	// compiled.
	Limits schema.Limits
}

// schemaKey identifies a schema by its text and options.
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
	waiting   atomic.Int32 // for the validator
	validator *Validator   // nil until first needed
	unchecked error        // why there is no validator
}

// Document returns the schema as a part of a sequence.
func (s *CompiledSchema) Document() Document {
	return Document{fmt.Sprintf("schema %x %+v", s.key.text, s.key.opt), func(context.Context) (*decoder.Grammar, error) { return s.compiled.Grammar(s.vocab), nil }}
}

// Validate checks a document with a validator that shares no code with the constraint engine. The
// error is an *InvalidDocumentError if the document does not fit; any other error is the reason why
// there is no verdict.
func (s *CompiledSchema) Validate(ctx context.Context, document []byte) error {
	v, err := s.independent(ctx)
	if err != nil {
		return err
	}
	return v.Validate(ctx, document)
}

// independent returns the validator, which the first call compiles. If its context ends first, the
// next call compiles again.
func (s *CompiledSchema) independent(ctx context.Context) (*Validator, error) {
	s.waiting.Add(1)
	s.checking.Lock()
	s.waiting.Add(-1)
	defer s.checking.Unlock()
	if s.validator == nil && s.unchecked == nil {
		ctx := meter.Unless(ctx, func() bool { return s.waiting.Load() > 0 })
		v, err := NewValidator(ctx, s.Source, s.Report.Draft)
		if err != nil && ctx.Err() != nil {
			return nil, err
		}
		s.validator, s.unchecked = v, err
	}
	return s.validator, s.unchecked
}

// bytes returns the memory held, approximately.
func (s *CompiledSchema) bytes() int {
	const parsed = 64 // bytes of the parsed schema and its validator for each byte of its text
	return 1<<14 + parsed*len(s.Source) + s.Bound.Held()
}

// KeepBytes limits the cache to n bytes. It must be called before the first schema is compiled.
func (c *Schemas) KeepBytes(n int) { c.cache.room = n }

// Instruction returns a prompt that tells the model which JSON is wanted. Masks enforce the form,
// but only the prompt can guide the content. The schema is its source without whitespace, including
// names and descriptions.
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

// NewSchemas returns a Schemas that keeps up to limit schemas.
func NewSchemas(v *vocab.Vocab, limit int) *Schemas {
	return &Schemas{vocab: v, cache: newCache[schemaKey](limit, (*CompiledSchema).bytes)}
}

// warmSchema and warmDocument visit every kind of position for which something is prepared once per
// vocabulary.
const (
	warmSchema = `{"type": "object", "properties": {
		"a": {"type": "string"}, "b": {"type": "string", "maxLength": 9}, "c": {"type": "string", "pattern": "^[a-f0-9]*$"},
		"d": {"type": "string", "pattern": "^[^/]*$"}, "e": {"type": "number"}, "f": {}}}`
	warmDocument = `{ "a": "x\"y", "b": "x", "c": "0", "d": "x", "e": 1.5, "f": [true, null, {"x": "y"}]}`
)

// Warm computes what is prepared once per vocabulary, and once in a process. For a large vocabulary this takes up to
// a second, for which the first constrained request would otherwise wait.
func (c *Schemas) Warm() error {
	regular.PrepareFormats()
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

// Compile returns the compiled schema, from the cache if possible. Concurrent requests for one
// schema compile it once. The errors are those of schema.CompileContext.
func (c *Schemas) Compile(ctx context.Context, src []byte, opt schema.Options) (*CompiledSchema, error) {
	if opt.Limits == (schema.Limits{}) {
		opt.Limits = c.Limits
	}
	key := schemaKey{sha256.Sum256(src), opt}
	return c.cache.get(ctx, key, func(ctx context.Context) (*CompiledSchema, error) {
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

// Stats returns the counts of the cache.
func (c *Schemas) Stats() CacheStats { return c.cache.counts() }
