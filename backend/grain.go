package backend

// A Grained is a [Context] whose results depend on how tokens are put into batches,
// in the last digits of a logit or more.
type Grained interface {
	// Grain returns a number of tokens. A sequence gets the same logits, to
	// the last bit, whenever it was decoded alone, from the first cell of the
	// cache on, and cut into batches in the same way, where whole multiples of
	// Grain that follow each other may be in one batch or in several.
	Grain() int
}
