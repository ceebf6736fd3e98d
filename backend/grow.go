package backend

// A Grower is a [Context] that allocates its cells as they are needed: Size is
// the maximum, and Decode returns ErrNoSlot if a batch does not fit the cells
// allocated so far.
type Grower interface {
	// Cells returns how many tokens fit the allocated cells.
	Cells() int

	// Grow makes room for more tokens, up to Size; the sequences are unchanged. It
	// returns false if there is no more room: at Size, or if memory is short.
	// Without urgent it also declines to take much of the machine's memory, since
	// evicting idle sequences may suffice. It takes as long as copying the cells,
	// and invalidates borrowed logits.
	Grow(urgent bool) bool
}
