// Package bench measures the constraint engine and checks it against oracles that
// share no code with it.
//
// It contains the harnesses behind two commands:
//
//   - stencil maskbench ([Maskbench]) replays instances of real schemas token
//     by token, times every mask, and checks that valid instances are accepted
//     and invalid ones refused.
//   - stencil walk ([Walk]) samples documents at random from the masks and
//     validates each with an independent validator.
//
// Both read a [Corpus] of files in the format of MaskBench, of groups in the format
// of the JSON Schema test suite, or of plain schemas. Both use the engine through
// the small interfaces of engine.go, so that tests can replace it with an engine
// that hangs, panics or returns wrong results.
//
// The tests of this package check the engine against the JSON Schema test suite, the
// JSON parsing suite, a naive implementation of the mask computation that tries
// every token byte by byte, and, for random schemas and random instances, the
// independent validator.
package bench
