// Package tokens computes the effect of a vocabulary's tokens inside the strings,
// keys, numbers and whitespace of JSON, so that masks there need no walk over the
// vocabulary. [Tables] are kept per vocabulary, for all schemas; results for a
// state of a regular language serve every schema that uses the language.
//
// A token that begins inside a string is one of three kinds:
//
//	plain     characters that need no escape: stringmask.go finds those that
//	          keep the language alive, mostly by combining sets of tokens by
//	          their characters and lengths, else by a walk over a trie (walk.go)
//	escaped   with escapes or parts of characters: escapemask.go tries them
//	closing   with a quote: closemask.go files closing tokens by the characters
//	          before the quote and by what follows it
package tokens
