// Package decoder is the constraint engine: it computes, for a text so far,
// the set of tokens that may come next.
//
// The machine is a pushdown automaton over bytes that is built while it
// runs. A front end (package schema, package gbnf) is a [Source]: it numbers
// frames and says which edges leave each. The decoder keeps stacks of frames,
// hash-consed, and configurations, which are sets of stacks; it follows all
// readings of an ambiguous text at once. A [Grammar] holds what has been
// learnt and is shared; a [Matcher] follows one text.
//
// A mask is the union over the stacks of a configuration. For one stack the
// vocabulary's trie is walked:
//
//	for each node, in depth-first order:
//	    next = step(state of the parent node, byte)
//	    dead:  skip the sub-tree
//	    alive: keep next for the children; the node's tokens are allowed
//
// Most of a vocabulary is words, and inside of a JSON string all of them are
// allowed. A source therefore says what it knows in advance ([Prepared]): a
// ready-made set for tokens that stay inside the string, and a small trie of
// what may follow the quote for those that close it. Masks are kept by
// configuration and shared.
//
// Everything here is plain computation: no goroutines, no I/O.
package decoder
