package backend

// A Grained is a [Context] whose results depend on how tokens are split into
// batches, in the last digits of a logit or more.
type Grained interface {
	// Grain returns a number of tokens. A sequence gets bit-identical logits whenever
	// it is decoded alone, from the first cell of the cache, and split into batches in
	// the same way; consecutive whole multiples of Grain may be in one batch or in
	// several.
	Grain() int
}
