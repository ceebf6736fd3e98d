package vectors

import (
	"cmp"
	"math"
	"net/http"
	"slices"

	"github.com/stencil-json/stencil/embedding"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/wire"
)

// Rerank handles POST /v1/rerank: it scores documents against a query, in the form that
// Jina's, Cohere's and llama.cpp's clients share, or in that of Text Embeddings
// Inference.
func (s *Handlers) Rerank(r *http.Request) (wire.Answer, error) {
	body, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	q, err := readRerank(body)
	if err != nil {
		return nil, err
	}
	m, err := s.Models.NamedFor(r.Context(), q.Model, q.KeepAlive, registry.ToRerank)
	if err != nil {
		return nil, err
	}
	prompts, write := m.Embeddings.Prompts(), m.Embeddings.Prompts().Pair
	if q.Truncate {
		write = prompts.ShortPair
	}
	result, err := s.compute(r, m, len(q.Documents), q.Timeout, q.place, func(i int) ([]int32, error) {
		d := q.Documents[i]
		if q.Truncate {
			d = prompts.Head(d)
		}
		if n := max(len(q.Query), len(d)); n > prompts.MaxBytes() {
			return nil, &embedding.InputError{Index: i, Bytes: n, Limit: m.Embeddings.Limit()}
		}
		return write(q.Query, d), nil
	})
	if err != nil {
		return nil, err
	}
	reply := rerankReply{Object: "list", Model: m.Name, Usage: tokenUsage{result.Tokens, result.Tokens}, Warnings: q.Warnings}
	for i, row := range result.Rows {
		one := rerankResult{Index: i, Score: row[0]}
		if q.Sigmoid {
			one.Score = float32(1 / (1 + math.Exp(-float64(row[0]))))
		}
		if q.ReturnDocuments {
			one.Document = &rerankDocument{q.Documents[i]}
		}
		reply.Results = append(reply.Results, one)
	}
	slices.SortStableFunc(reply.Results, func(a, b rerankResult) int { return cmp.Compare(b.Score, a.Score) })
	if q.TopN > 0 {
		reply.Results = reply.Results[:min(q.TopN, len(reply.Results))]
	}
	if q.TEI {
		list := make([]teiResult, 0, len(reply.Results))
		for _, one := range reply.Results {
			result := teiResult{Index: one.Index, Score: one.Score}
			if one.Document != nil {
				result.Text = &one.Document.Text
			}
			list = append(list, result)
		}
		return wire.JSON{Value: list}, nil
	}
	return wire.JSON{Value: reply}, nil
}
