// Package gbnf compiles grammars to constraints for package decoder: grammars
// in GBNF, the notation of llama.cpp, and beside them regular expressions,
// lists of choices and a set of built-in formats.
//
// # Syntax
//
// A grammar is a list of rules. The text as a whole is described by the rule
// root.
//
//	root  ::= greeting ("," [ \t]* name)? "!"   # a comment ends with its line
//	name  ::= [A-Z] [a-z]{1,20}
//	greeting ::= "hello" |
//	             "good " ("morning" | "evening")
//
// The elements of a rule are
//
//	"text"          the characters between the quotes
//	[a-z_]          one character of a set; [^a-z_] one of all others
//	.               any one character
//	name            what the rule of that name describes
//	( … )           a group; inside of it line ends are white space
//	a b   a | b     one after the other; either
//	a* a+ a?        any number, at least one, at most one
//	a{3} a{3,} a{3,5}   so many
//	<text> <[1000]>     the token with that text, or that number
//	!<text> !<[1000]>   any other token but those that end a generation
//
// In texts and sets a backslash spells what can't be written plainly: \n \r
// \t \\ \" \[ \], and by number \x41, \u0041, \U00000041. A name is made of
// letters, digits, hyphens and underscores. A rule ends with its line, except
// after ::= and |, and where the next line begins with |.
//
// # How it works
//
// parse.go makes a syntax tree (syntax.go), which print.go writes as text
// again; check.go looks for rules that are missing, repeated or of no use.
// compile.go turns the tree into a program (program.go): instructions that
// read one character, call a rule, branch or count. cost.go finds the shortest
// text from each instruction on, and with it what can be completed at all.
//
// machine.go runs the program. A state is a set of instructions, closed under
// what costs no character, together with a goal, the rule that is being read.
// A rule that stands at the very beginning of another is read from below: its
// first character is read at once, and only when it is complete do the rules
// show that begin with it (goal.go). That is left-corner parsing; left
// recursion and empty rules need nothing of their own. Other calls push the
// state to return to, except where returning would change nothing. Counted
// repetition is a counter beside the instruction (counter.go) and never
// written out. A reference to a token is to the machine a character of its own
// (token.go), which the decoder reads as an edge that is a token. The states
// next to the beginning are made before the first text (warm.go).
//
// bytes.go spells characters as UTF-8 and gives the decoder its frames;
// prepare.go says which tokens need not be walked: those of which a sketch of
// the state's surroundings (sketch.go), applied to the vocabulary once
// (tables.go), tells enough. regex.go and xml.go are other machines below the
// same frames.
//
// # Departures from llama.cpp
//
//   - Left recursion, of any kind, is read.
//   - Names may hold underscores.
//   - Counts are exact however large they are.
//   - A line may begin with |, to go on with the rule above.
//   - A rule defined twice, an empty set and a range that holds nothing are
//     errors. So is a grammar that no text can satisfy; alternatives that no
//     text can satisfy are never entered.
//   - Control tokens match nothing but references to tokens: . and [^a] read
//     characters of the text, to which they add none.
//   - !<text> reads tokens that are a part of a character too.
//   - [Grammar.Bind] refuses references to tokens that end a generation, which
//     could never match.
package gbnf
