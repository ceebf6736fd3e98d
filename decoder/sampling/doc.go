// Package sampling picks the next token from a row of logits and the set of
// tokens that a constraint allows.
//
// One call of [Sampler.Sample] does, in this order:
//
//	logit bias → repetition, frequency and presence penalties   (few tokens)
//	allowed set                                                  (bitset)
//	top-k → typical → top-p → min-p                              (truncation)
//	temperature → draw
//
// Temperature comes last, so that a high one flattens what the truncations
// kept and does not widen it; llama.cpp's default chain has the same order.
// The allowed set comes before every truncation: shares such as top-p are
// shares of what may follow, and a truncation can't leave nothing over.
//
// # No sorting
//
// A vocabulary has 32,000 to 262,144 tokens and inside a JSON string nearly
// all of them are allowed, so nothing here sorts. Each truncation finds a
// threshold and then filters in the order of token ids:
//
//   - top-k keeps a heap of k while it passes over the logits once;
//   - top-p and typical gather only the tokens within a few nats of the likeliest
//     (or most typical) one, further out if they hold less than the share, and
//     find the exact threshold among those by quickselect on mass;
//   - min-p is a comparison.
//
// Where the constraint allows only a few tokens, only those logits are read.
//
// # Determinism
//
// The random number of a step is a hash of the seed and of the number of
// tokens generated before it: it does not depend on other requests of the
// process, nor on how many of the earlier tokens were forced. The tokens to draw
// from are ordered independently of their likelihoods (by id, after the tokens
// with a bias or a penalty), so that noise in the last bits of the logits moves
// the boundaries between tokens slightly and swaps none.
//
// A Sampler belongs to one sequence and is used by one goroutine at a time.
// After its first uses it allocates nothing.
package sampling
