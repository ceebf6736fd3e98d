// Package bench measures the constraint engine and checks it against
// oracles that share no code with it.
//
// It holds the harnesses behind two commands:
//
//   - stencil maskbench ([Maskbench]) replays instances of real schemas token
//     by token, times every mask, and checks that valid instances pass and
//     invalid ones are stopped.
//   - stencil walk ([Walk]) samples documents at random from the masks and has
//     each one judged by an independent validator.
//
// Both read a corpus ([ReadCorpus]) of files as MaskBench writes them, of
// groups as the JSON Schema test suite writes them, or of plain schemas, and
// both reach the engine through the small interfaces of engine.go, so that
// tests can put an engine there that hangs, panics or lies.
//
// The tests of this package are the engine's judges: the JSON Schema test
// suite, the JSON parsing suite, a naive twin of the mask computation that
// tries every token byte by byte, and random schemas with random instances
// compared with the independent validator.
package bench
