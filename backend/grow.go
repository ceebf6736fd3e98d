package backend

// A Grower is a [Context] whose cells are allotted as they are needed: Size is
// the most that it can have, and Decode returns ErrNoSlot when a batch does not
// fit what it has so far.
type Grower interface {
	// Cells returns how many tokens fit what is allotted.
	Cells() int

	// Grow makes room for more tokens, up to Size; the sequences stay as they
	// are. It reports false when there is no more to be had: at Size, or where
	// memory lacks. Without urgent it also declines to take much of the
	// machine's memory, since giving up idle sequences may do. It takes as
	// long as copying the cells, and invalidates borrowed logits.
	Grow(urgent bool) bool
}
