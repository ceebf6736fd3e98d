package server

import (
	"cmp"
	"net/http"
	"slices"
)

// rerank is POST /v1/rerank: which of some documents answer a query best, in the
// form that Jina's, Cohere's and llama.cpp's clients share.
func (s *vectorsAPI) rerank(r *http.Request) (answer, error) {
	body, err := readObject(r)
	if err != nil {
		return nil, err
	}
	q, err := readRerank(body)
	if err != nil {
		return nil, err
	}
	m, err := s.models.namedFor(r.Context(), q.Model, q.KeepAlive, toRerank)
	if err != nil {
		return nil, err
	}
	prompts, write := m.embeddings.Prompts(), m.embeddings.Prompts().Pair
	if q.Truncate {
		write = prompts.ShortPair
	}
	inputs := make([][]int32, 0, len(q.Documents))
	for _, d := range q.Documents {
		inputs = append(inputs, write(q.Query, d))
	}
	result, err := s.compute(r, m, inputs, q.Timeout, q.place)
	if err != nil {
		return nil, err
	}
	reply := rerankReply{Object: "list", Model: m.name, Usage: tokenUsage{result.Tokens, result.Tokens}, Warnings: q.Warnings}
	for i, row := range result.Rows {
		one := rerankResult{Index: i, Score: row[0]}
		if q.ReturnDocuments {
			one.Document = &rerankDocument{q.Documents[i]}
		}
		reply.Results = append(reply.Results, one)
	}
	slices.SortStableFunc(reply.Results, func(a, b rerankResult) int { return cmp.Compare(b.Score, a.Score) })
	if q.TopN > 0 {
		reply.Results = reply.Results[:min(q.TopN, len(reply.Results))]
	}
	return jsonAnswer{reply}, nil
}
