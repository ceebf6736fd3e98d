package vectors

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"time"

	"github.com/stencil-json/stencil/embedding"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/wire"
)

// Embeddings handles POST /v1/embeddings, in OpenAI's form.
func (s *Handlers) Embeddings(r *http.Request) (wire.Answer, error) {
	body, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	q, err := readOpenAIEmbeddings(body)
	if err != nil {
		return nil, err
	}
	m, err := s.Models.NamedFor(r.Context(), q.Model, q.KeepAlive, registry.ToEmbed)
	if err != nil {
		return nil, err
	}
	result, err := s.Embed(r, m, q)
	if err != nil {
		return nil, err
	}
	reply := embeddingsReply{Object: "list", Model: m.Name, Usage: tokenUsage{result.Tokens, result.Tokens}, Warnings: q.Warnings}
	for i, row := range result.Rows {
		one := embeddingReply{Object: "embedding", Index: i, Embedding: row}
		if q.Base64 {
			one.Embedding = packed(row)
		}
		reply.Data = append(reply.Data, one)
	}
	return wire.JSON{Value: reply}, nil
}

// packed returns a row as base64 of little-endian 32-bit floats.
func packed(row []float32) string {
	raw := make([]byte, 0, 4*len(row))
	for _, x := range row {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// Embed computes the vectors of a query, shortened and normalised as it
// requests.
func (s *Handlers) Embed(r *http.Request, m *registry.Model, q *EmbedQuery) (*embedding.Result, error) {
	if width := m.Embeddings.Info().Width; q.Dimensions > width {
		return nil, wire.Invalid("dimensions", "dimensions must be at most %d for the model %q, not %d", width, m.Name, q.Dimensions)
	}
	prompts := m.Embeddings.Prompts()
	result, err := s.compute(r, m, len(q.Inputs), q.Timeout, q.place, func(i int) ([]int32, error) {
		in := q.Inputs[i]
		if q.Truncate {
			in.Text = prompts.Head(in.Text)
		}
		if n := in.bytes(); n > prompts.MaxBytes() {
			return nil, &embedding.InputError{Index: i, Bytes: n, Limit: m.Embeddings.Limit()}
		}
		tokens := in.tokens(prompts)
		if q.Truncate {
			tokens = prompts.Shorten(tokens, q.Limit)
		}
		return tokens, nil
	})
	if err != nil {
		return nil, err
	}
	for i, row := range result.Rows {
		if q.Dimensions > 0 {
			row = embedding.Shorten(row, q.Dimensions)
		}
		if !q.Raw {
			embedding.Normalize(row)
		}
		result.Rows[i] = row
	}
	return result, nil
}

// compute computes the rows of n inputs with a model; tokens tokenizes one of them, and place names it in an
// error. The first input that is too large ends the request, before the others are tokenized, and so does its time.
func (s *Handlers) compute(r *http.Request, m *registry.Model, n int, timeout time.Duration, place func(int) string, tokens func(int) ([]int32, error)) (*embedding.Result, error) {
	limit := s.Timeout
	if timeout > 0 {
		limit = min(timeout, limit)
	}
	ctx, cancel := context.WithTimeoutCause(r.Context(), limit, embedding.ErrTimeout)
	defer cancel()
	inputs, total := make([][]int32, 0, n), 0
	for i := range n {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		one, err := tokens(i)
		if most := m.Embeddings.Limit(); err == nil && len(one) > most {
			err = &embedding.InputError{Index: i, Tokens: len(one), Limit: most}
		}
		if total += len(one); err == nil && total > embedding.MaxTokens {
			err = &embedding.SizeError{What: "tokens", Count: total, Limit: embedding.MaxTokens}
		}
		if err != nil {
			return nil, inputProblem(err, place)
		}
		inputs = append(inputs, one)
	}
	wire.NoteOf(r.Context()).Prepared()
	result, err := m.Embeddings.Embed(ctx, embedding.Request{Client: wire.ClientOf(r), Inputs: inputs})
	if err != nil {
		return nil, inputProblem(err, place)
	}
	wire.NoteOf(r.Context()).Add(slog.Int("inputs", len(inputs)), slog.Int("prompt_tokens", result.Tokens))
	return result, nil
}

// inputProblem converts an error about an input to a mistake in the request.
func inputProblem(err error, place func(int) string) error {
	var input *embedding.InputError
	var size *embedding.SizeError
	switch {
	case errors.As(err, &input) && input.Vocab > 0:
		where := place(input.Index)
		return wire.Invalid(where, "%s has the token %d, the vocabulary ends at %d", where, input.Token, input.Vocab-1)
	case errors.As(err, &input) && input.Bytes > 0:
		where := place(input.Index)
		return &wire.Error{Param: where, Code: "context_length_exceeded", Message: fmt.Sprintf(
			"%s is too large: this model's maximum context length is %d tokens, and a text of %d bytes has more; with truncate: true its end is left out",
			where, input.Limit, input.Bytes)}
	case errors.As(err, &input) && input.Tokens == 0:
		where := place(input.Index)
		return wire.Invalid(where, "%s must not be empty", where)
	case errors.As(err, &input):
		where := place(input.Index)
		return &wire.Error{Param: where, Code: "context_length_exceeded", Message: fmt.Sprintf(
			"%s is too large: this model's maximum context length is %d tokens, it has %d; with truncate: true its end is left out",
			where, input.Limit, input.Tokens)}
	case errors.As(err, &size):
		return &wire.Error{Param: place(-1), Code: "too_many_" + size.What, Message: fmt.Sprintf(
			"%s has at least %d %s, at most %d are possible in one request", place(-1), size.Count, size.What, size.Limit)}
	}
	return err
}

// Handlers implements the endpoints for embeddings and reranking.
type Handlers struct {
	Models  *registry.Registry
	Timeout time.Duration // of one request
}
