// Package gbnf compiles grammars to constraints for package decoder: grammars in GBNF,
// the notation of llama.cpp, regular expressions, lists of choices, and built-in
// formats.
//
// # Syntax
//
// A grammar is a list of rules. The rule root describes the whole text.
//
//	root  ::= greeting ("," [ \t]* name)? "!"   # a comment ends with its line
//	name  ::= [A-Z] [a-z]{1,20}
//	greeting ::= "hello" |
//	             "good " ("morning" | "evening")
//
// The elements of a rule are
//
//	"text"          the characters between the quotes
//	[a-z_]          one character of a set; [^a-z_] any other character
//	.               any one character
//	name            a text of the rule with that name
//	( … )           a group, in which line breaks are white space
//	a b   a | b     sequence; alternatives
//	a* a+ a?        any number, at least one, at most one
//	a{3} a{3,} a{3,5}   exactly 3, at least 3, from 3 to 5
//	<text> <[1000]>     the token with that text, or that number
//	!<text> !<[1000]>   any other token, except end-of-generation tokens
//
// In texts and sets, the escapes are \n \r \t \\ \" \[ \] and, by number, \x41, \u0041,
// \U00000041. A name consists of letters, digits, hyphens and underscores. A rule ends
// with its line, except after ::= and |, and if the next line begins with |.
//
// # How it works
//
// parse.go builds a syntax tree (syntax.go), which print.go formats; check.go reports
// missing, duplicate and useless rules. compile.go translates the tree into a program
// (program.go): instructions that read one character, call a rule, branch or count.
// cost.go computes the shortest text from each instruction on, and thereby which
// instructions can be completed at all.
//
// machine.go runs the program. A state is a set of instructions, closed under steps that
// read no character, together with a goal, the rule being read. A rule at the beginning
// of another is read bottom-up: its first character is read at once, and the rules that
// begin with it are recognised only when it is complete (goal.go). This is left-corner
// parsing; left recursion and empty rules need no special treatment. Other calls push
// the state to return to, unless returning would change nothing. Counted repetition is
// a counter beside the instruction (counter.go), never unrolled. To the machine, a
// reference to a token is a special character (token.go), which becomes an edge of the
// decoder that reads a whole token. The states near the beginning are built before the
// first text (warm.go).
//
// bytes.go encodes characters as UTF-8 and provides the frames for the decoder;
// prepare.go finds tokens that need not be walked, by applying a sketch of the
// surroundings of a state (sketch.go) to the vocabulary once (tables.go). regex.go and
// xml.go are other machines behind the same frames.
//
// # Departures from llama.cpp
//
//   - Left recursion of any kind is supported.
//   - Names may contain underscores.
//   - Counts of any size are exact.
//   - A line that begins with | continues the rule above.
//   - Duplicate rules, empty sets and empty ranges are errors, and so is a grammar
//     that no text can satisfy. Alternatives that no text can satisfy are never
//     entered.
//   - Control tokens match only references to tokens: . and [^a] read characters of the
//     text, and control tokens add none.
//   - !<text> also reads tokens that are part of a character.
//   - [Grammar.Bind] refuses references to end-of-generation tokens, which could never
//     match.
package gbnf
