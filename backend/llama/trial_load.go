//go:build llama && cgo

package llama

// #include "shim.h"
import "C"

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"

	"github.com/stencil-json/stencil/backend"
)

const (
	trialCells  = 512
	trialTokens = 4
	trialSpare  = 1 << 30   // bytes beyond the known need
	trialThread = 160 << 20 // address space of a thread: its stack and its own heap arena
	trialHeader = 64        // bound on the size of the vocabulary and the like, as a multiple of the header's
)

// runTrial loads a model, and creates and uses its contexts or embedder.
func runTrial(r trialRequest) error {
	SetLogger(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})))
	if _, err := LoadBackends(r.Library); err != nil {
		return err
	}
	C.stencil_default_signals()
	// Load reports what is wrong with an unreadable file.
	if f, err := openFile(r.Path, r.Over...); err == nil {
		p := withDefaults(trialContext(r.Context), 0)
		e := f.estimate(p)
		for _, l := range r.LoRA {
			if g, err := openPart(l.Path); err == nil {
				e.Weights += tensorBytes(g)
			}
		}
		if err := limitProcess(e.Weights+2*(e.Cache+e.Compute+e.Output)+trialHeader*f.header.DataOffset+trialSpare+int64(2*runtime.NumCPU())*trialThread, r.CPU); err != nil {
			return fmt.Errorf("llama: trial: %w", err)
		}
	}
	m, err := Load(context.Background(), r.Path, LoadOptions{LoRA: r.LoRA, Override: r.Over, Rope: r.Rope, NoMemoryCheck: r.Force, noCopies: true})
	if err != nil {
		return err
	}
	own := m.(*model)
	if own.embedding.Generates {
		if err := own.tryText(r.Context, r.Compute); err != nil {
			return fmt.Errorf("llama: %s: %w", r.Path, err)
		}
	}
	if !own.embedding.Generates || r.Embeds {
		if err := own.tryEmbedding(r.Context, r.Compute); err != nil {
			return fmt.Errorf("llama: %s: %w", r.Path, err)
		}
	}
	return m.Close()
}

// trialContext returns small parameters like p.
func trialContext(p backend.ContextParams) backend.ContextParams {
	p.Size = trialCells
	p.MaxSeqs = min(p.MaxSeqs, 2)
	p.MaxBatch = min(p.MaxBatch, trialCells)
	return p
}

// trialTokens returns tokens spread over the vocabulary, including the first and
// the last.
func (m *model) trialTokens() []int32 {
	n := m.vocab.Len()
	out := make([]int32, trialTokens)
	for i := range out {
		out[i] = int32((n - 1) * i / (trialTokens - 1))
	}
	return out
}

// tryText decodes some tokens and one more, and moves the sequence as a growing
// context does.
func (m *model) tryText(p backend.ContextParams, compute bool) error {
	c, err := m.NewContext(trialContext(p))
	if err != nil {
		return err
	}
	defer c.Close()
	if !compute {
		return nil
	}
	var b backend.Batch
	decode := func(tokens ...int32) error {
		b.Reset()
		at := c.SeqLen(0)
		for i, t := range tokens {
			b.Add(0, at+int32(i), t, i == len(tokens)-1)
		}
		return c.Decode(context.Background(), &b)
	}
	tokens := m.trialTokens()
	if err := decode(tokens...); err != nil {
		return err
	}
	if err := decode(tokens[0]); err != nil {
		return err
	}
	state, err := c.SeqState(0)
	if err != nil {
		return err
	}
	return c.SetSeqState(0, state)
}

func (m *model) tryEmbedding(p backend.ContextParams, compute bool) error {
	e, err := m.NewEmbedder(backend.EmbedderParams{MaxTokens: trialCells, Threads: max(p.Threads, p.BatchThreads), FlashAttention: p.FlashAttention})
	if err != nil {
		return err
	}
	defer e.Close()
	if !compute {
		return nil
	}
	tokens := m.trialTokens()
	tokens = tokens[:min(len(tokens), e.MaxTokens())]
	out := [][]float32{make([]float32, m.embedding.Width)}
	return e.Embed(context.Background(), [][]int32{tokens}, out)
}
