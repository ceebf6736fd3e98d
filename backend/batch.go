package backend

import "fmt"

// A Batch is the input of one decode step: entries of any mixture of
// sequences. The four slices have one element per entry; they are flat so that
// a backend can pass them on unchanged. The zero Batch is empty and ready for
// use; Reset empties it and keeps the memory.
type Batch struct {
	Tokens []int32
	Pos    []int32 // position within the sequence
	Seqs   []int32
	Want   []int8 // 1 if logits are requested, else 0

	// Steady asks for the same numbers as ever: nothing outside the batch and its sequences, such as what other programs do,
	// may have an influence on them.
	Steady bool

	rows int
}

// Add appends an entry and returns the number of its row of logits, -1 if it
// requests none.
func (b *Batch) Add(seq, pos, token int32, logits bool) int {
	row, want := -1, int8(0)
	if logits {
		row, want = b.rows, 1
		b.rows++
	}
	b.Tokens = append(b.Tokens, token)
	b.Pos = append(b.Pos, pos)
	b.Seqs = append(b.Seqs, seq)
	b.Want = append(b.Want, want)
	return row
}

// AddTokens appends tokens of one sequence at consecutive positions. If logits
// is set, it requests logits for the last one. It returns the row of that one,
// -1 if there is none.
func (b *Batch) AddTokens(seq, pos int32, tokens []int32, logits bool) int {
	row := -1
	for i, t := range tokens {
		row = b.Add(seq, pos+int32(i), t, logits && i == len(tokens)-1)
	}
	return row
}

// Len returns the number of entries.
func (b *Batch) Len() int { return len(b.Tokens) }

// Rows returns the number of entries that request logits.
func (b *Batch) Rows() int { return b.rows }

// Reset empties the batch.
func (b *Batch) Reset() {
	b.Tokens, b.Pos, b.Seqs, b.Want = b.Tokens[:0], b.Pos[:0], b.Seqs[:0], b.Want[:0]
	b.rows, b.Steady = 0, false
}

// Check returns an error for the first entry that violates a rule that can be
// checked without the sequences: a number out of range, too many entries,
// positions of a sequence that are not consecutive within the batch. The error
// matches ErrBatch. Backends call it before decoding. next is scratch of
// maxSeqs elements; on success next[s] is one past the last position in the
// batch for sequence s, or -1 if there is none.
func (b *Batch) Check(vocabLen, maxSeqs, maxBatch int, next []int32) error {
	n := len(b.Tokens)
	switch {
	case n == 0:
		return fmt.Errorf("%w: it is empty", ErrBatch)
	case n > maxBatch:
		return fmt.Errorf("%w: %d entries, at most %d are allowed", ErrBatch, n, maxBatch)
	case len(b.Pos) != n || len(b.Seqs) != n || len(b.Want) != n:
		return fmt.Errorf("%w: its slices differ in length", ErrBatch)
	}
	for s := range next {
		next[s] = -1
	}
	rows := 0
	for i, t := range b.Tokens {
		seq, pos := b.Seqs[i], b.Pos[i]
		switch {
		case t < 0 || int(t) >= vocabLen:
			return fmt.Errorf("%w: entry %d: token %d is outside the vocabulary of %d", ErrBatch, i, t, vocabLen)
		case seq < 0 || int(seq) >= maxSeqs:
			return fmt.Errorf("%w: entry %d: sequence %d is outside the %d of this context", ErrBatch, i, seq, maxSeqs)
		case pos < 0:
			return fmt.Errorf("%w: entry %d: negative position %d", ErrBatch, i, pos)
		case next[seq] >= 0 && pos != next[seq]:
			return fmt.Errorf("%w: entry %d: sequence %d continues at position %d, not %d", ErrBatch, i, seq, next[seq], pos)
		}
		next[seq] = pos + 1
		if b.Want[i] != 0 {
			rows++
		}
	}
	b.rows = rows
	return nil
}
