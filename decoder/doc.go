// Package decoder is the constraint engine: given the text so far, it computes the
// set of tokens that may come next (constrained decoding).
//
// The engine is a pushdown automaton over bytes that is built while it runs. A front
// end (package schema, package gbnf) is a [Source]: it numbers frames and defines the
// edges that leave each. The decoder keeps stacks of frames, and configurations,
// which are sets of stacks, so that it follows all readings of an ambiguous text at
// once. A [Grammar] holds the automaton as far as it has been built, and is shared; a
// [Matcher] is the state of one text.
//
// # Stacks
//
// Stacks are hash-consed: equal stacks have equal numbers. Stacks with the same frame
// on top are merged into one, whose parent is a configuration. What results is a
// graph-structured stack (Tomita, 1985), in which a step costs the same however many
// readings led to it, as long as they agree on the top frame. Take the grammar
//
//	root  ::= value "!" | value "?"
//	value ::= "a" | "(" value ")"
//
// whose frames are root, value, ")", "!" and "?". After "(", a text can be read in two
// ways, with "!" or with "?" to come at the end. They differ at the bottom only, so
// there is one stack for both, s10 below:
//
//	value          s10 = value on s9
//	  |
//	 ")"           s9  = ")" on c0
//	 / \
//	"!" "?"        c0  = {s3 s6}, s3 = "!" on $, s6 = "?" on $
//	 \ /
//	  $            the empty stack: the text is complete
//
// These are the configurations of the text "(a)!", written top frame first, with
// alternatives in braces, and the masks over a small vocabulary:
//
//	text    configuration               mask
//	""      root $                      a  (  ((
//	"("     value ")" {"!" $ | "?" $}   a  (  ((  a)
//	"(a"    ")" {"!" $ | "?" $}         )  )?
//	"(a)"   {"!" $ | "?" $}             !  ?
//	"(a)!"  $                           </s>
//
// Only after ")" are there two stacks to step, those of c0. The example of this
// package prints the tables as they grow; [Grammar.String] and [Matcher.String] do so
// for any grammar.
//
// # Steps
//
// The effect of a byte on a frame is packed into an integer: no edge; the frame is
// replaced by one other (codeReplace); it ends (codePop); anything else, such as
// several frames or several alternatives (codeGeneral); or not computed yet
// (codeLater). A step from a single stack is usually one look-up of such a code.
// Other steps are remembered: those from several stacks in a row of 256 next
// configurations for each set (setNext), because masks step the same set over many
// bytes; those from a stack whose top frame may end in a small cache (steps), because
// there are too many such stacks for rows. A frame with many edges has a row of codes
// (dense).
//
// Some edges depend on the text that was read, such as the end of an object's key,
// which must not occur twice. A source records them with [Edges.Capture]. Accepting a
// byte resolves them ([Source.Resolve]). A mask is shared by all texts that lead to
// its configuration, so it cannot: it uses the frames that the source gives in place
// of the result. If there are none, the tokens across the edge are in doubt: they are
// listed with the mask and checked one by one against each text. A step that met a
// capture is never remembered.
//
// # Masks
//
// A mask is the union over the stacks of a configuration. For one stack, the
// vocabulary's trie is walked:
//
//	for each node, in depth-first order:
//	    next = step(state of the parent node, byte)
//	    dead:  skip the subtree
//	    alive: keep next for the children; the node's tokens are allowed
//
// Most of a vocabulary is words, all of which are allowed within a JSON string. A
// source therefore says what it knows in advance ([Prepared]). After "abc, for
// example, Base is the set of tokens that stay within the string. One [Exit] stands
// for the tokens that contain the closing quote: no Frames replace the string, so its
// trie, the rests of these tokens after the quote, is walked from the stack below;
// Bare are the tokens that end with the quote, and Only excludes those that a
// maxLength or a pattern forbids. A short list of such tokens is given as Few and
// Rests instead.
//
// Some frames occur on many stacks, such as the colon after a key ([Edges.Common]).
// The part of a mask that depends on such a frame only is kept apart from the stack
// below it, and combined with each stack. Masks are cached by configuration.
//
// Everything here is plain computation: no goroutines, no I/O.
//
// # Tests
//
// Most tests need a front end and are elsewhere: those of sequences, marks and forks in
// package gbnf (segment_test.go, fork_test.go), those that compare masks with the result
// of trying every token in packages gbnf (TestMasks) and bench (TestMaskOracle).
package decoder
