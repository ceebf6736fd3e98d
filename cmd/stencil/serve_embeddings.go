package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/embedding"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server"
)

// loaded is a model with its engines.
type loaded struct {
	server.Engines
	model backend.Model
}

// start loads the model and starts the engines that fit it: one that generates
// text, one for embeddings or reranking, or, with --embeddings, both.
func (f *serveFlags) start(ctx context.Context, log *slog.Logger) (*loaded, error) {
	began := time.Now()
	model, err := f.model.load(ctx, os.Stderr)
	if err != nil {
		return nil, err
	}
	l := &loaded{model: model}
	embeds, ok := model.(backend.EmbeddingModel)
	only := ok && !embeds.Embedding().Generates
	if !only {
		if l.Text, err = engine.New(model, f.prompts.bounded(f.engine)); err != nil {
			return nil, errors.Join(err, l.close())
		}
	}
	if only || ok && f.embeddings {
		p := f.engine.Context
		l.Embeddings, err = embedding.New(embeds, embedding.Config{
			Queue:    f.engine.Queue,
			Embedder: backend.EmbedderParams{MaxTokens: p.Size, Threads: max(p.Threads, p.BatchThreads), FlashAttention: p.FlashAttention},
		})
		if err != nil {
			return nil, errors.Join(err, l.close())
		}
	}
	info := model.Info()
	log.Info("loaded", "path", info.Path, "architecture", info.Architecture, "parameters", info.Parameters,
		"type", info.Quantization, "devices", strings.Join(info.Devices, ","), "took", time.Since(began).Round(time.Millisecond))
	if l.Embeddings != nil {
		log.Info("embeddings", "path", info.Path, "pooling", l.Embeddings.Info().Pooling, "longest_input", l.Embeddings.Limit())
	}
	return l, nil
}

// context returns the maximum number of tokens of a request.
func (l *loaded) context() int {
	if l.Text == nil {
		return l.Embeddings.Limit()
	}
	return l.Text.ContextLimit()
}

func (l *loaded) close() error {
	var all error
	if l.Text != nil {
		all = l.Text.Close()
	}
	if l.Embeddings != nil {
		all = errors.Join(all, l.Embeddings.Close())
	}
	return errors.Join(all, l.model.Close())
}

// tryEmbedding returns a command to try a model that generates no text.
func tryEmbedding(e *embedding.Engine, name, url, header string) string {
	if e.Info().Reranks() {
		return fmt.Sprintf(`curl -s %s/v1/rerank%s -d '{
  "model": %q,
  "query": "Where does the cat sleep?",
  "documents": ["Kittens nap on the rug.", "Cars need insurance."]
}'
`, url, header, name)
	}
	return fmt.Sprintf(`curl -s %s/v1/embeddings%s -d '{"model": %q, "input": ["The cat sleeps on the rug.", "Cars need insurance."]}'
`, url, header, name)
}
