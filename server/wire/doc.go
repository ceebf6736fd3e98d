// Package wire has what every dialect needs of HTTP and JSON: bodies read strictly and by name, answers, streams of
// events and of lines, and values found in a document as it grows.
//
// # Why not a library
//
// Server-sent events and lines of JSON are 93 lines here. What is hard about them is not the format: each event must
// leave at once and in one write, a client that reads no more must be noticed (a deadline for each write, whose error
// ends the generation), and a quiet connection must be kept open (comments). github.com/gin-contrib/sse (1.1.0), which
// gin brings along, was read in November 2026: it drops the errors of its writes, sets no deadline, doesn't flush, has no
// comments, writes an event in several pieces, escapes <, > and & in JSON, and leaves out the space after "data:",
// on which simple clients of OpenAI's API split lines.
package wire
