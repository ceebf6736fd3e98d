package embedding

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/stencil-json/stencil/backend"
)

// packTokens is the maximum number of tokens in a batch, unless a single input is
// longer: enough to read the weights once for many texts. Attention is computed between
// all tokens of a batch, including those of other inputs, so larger batches would cost
// more than they save.
const packTokens = 512

// item is an input in a batch.
type item struct {
	job   *job
	index int
}

// loop computes batches until the engine is closed.
func (e *Engine) loop() {
	defer close(e.stopped)
	defer e.embedder.Close()
	for {
		batch, ctx := e.next()
		if batch == nil {
			if e.finished() {
				return
			}
			<-e.wake
			continue
		}
		inputs, rows := make([][]int32, len(batch)), make([][]float32, len(batch))
		for i, it := range batch {
			inputs[i], rows[i] = it.job.inputs[it.index], make([]float32, e.info.Width)
		}
		err := e.embedder.Embed(ctx, inputs, rows)
		e.settle(batch, rows, err)
	}
}

// finished reports whether the engine is closing and no request waits.
func (e *Engine) finished() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closing && e.queue.size == 0
}

// next fills a batch with the next inputs; nil if there are none. The context ends when
// all jobs of the batch have ended.
func (e *Engine) next() ([]item, context.Context) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.reap()
	var batch []item
	tokens, most := 0, min(packTokens, e.embedder.MaxBatch())
	for len(batch) < e.embedder.MaxInputs() {
		j := e.queue.peek()
		if j == nil {
			break
		}
		n := len(j.inputs[j.next])
		if len(batch) > 0 && tokens+n > most {
			break // it is the first of the next batch
		}
		tokens += n
		if j.started.IsZero() {
			j.started = time.Now()
		}
		if !slices.Contains(e.running, j) {
			e.running = append(e.running, j)
		}
		batch = append(batch, item{j, e.queue.take()})
	}
	if batch == nil {
		return nil, nil
	}
	e.stats.Active = len(batch)
	ctx, cancel := context.WithCancel(e.base)
	e.abort = cancel
	return batch, ctx
}

// reap ends the jobs in the queue whose contexts have ended.
func (e *Engine) reap() {
	for _, j := range e.queue.remove(func(j *job) bool { return j.ctx.Err() != nil }) {
		e.end(j, context.Cause(j.ctx))
	}
}

// end sets the final result of a job. The lock is held.
func (e *Engine) end(j *job, err error) {
	if j.ended {
		return
	}
	j.ended, j.err = true, err
	if err != nil && j.ctx.Err() != nil {
		e.stats.Cancelled++
	}
	close(j.done)
}

// settle delivers the rows of a batch, or its error, to the jobs.
func (e *Engine) settle(batch []item, rows [][]float32, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.abort()
	e.abort, e.running = nil, nil
	e.stats.Active = 0
	e.stats.Batches++
	failed := map[*job]error{}
	now := time.Now()
	for i, it := range batch {
		j := it.job
		switch {
		case j.ctx.Err() != nil:
			failed[j] = context.Cause(j.ctx)
			continue
		case err != nil:
			failed[j] = err
			continue
		case !finite(rows[i]):
			failed[j] = ErrNotFinite
			continue
		}
		e.stats.Inputs++
		e.stats.Tokens += uint64(len(j.inputs[it.index]))
		j.result.Rows[it.index] = rows[i]
		if j.left--; j.left == 0 {
			j.result.Queued, j.result.Compute = j.started.Sub(j.submitted), now.Sub(j.started)
			e.end(j, nil)
		}
	}
	if len(failed) == 0 {
		return
	}
	e.queue.remove(func(j *job) bool { return failed[j] != nil })
	for j, err := range failed {
		if errors.Is(err, backend.ErrAborted) && e.base.Err() != nil {
			err = ErrClosed
		}
		e.end(j, err)
	}
}

// finite reports whether a row has neither infinities nor NaNs.
func finite(row []float32) bool {
	return !slices.ContainsFunc(row, func(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) })
}
