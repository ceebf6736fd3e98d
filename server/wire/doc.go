// Package wire holds the HTTP and JSON basics that all dialects share: strict reading of bodies by member name,
// answers, streams of events and of lines, and a scanner for values of a growing document.
//
// # Why not a library
//
// Server-sent events and JSON lines are 93 lines here. The hard part is not the format: each event must be sent at once
// and in one write, a client that stops reading must be noticed (a deadline for each write, whose error ends the
// generation), and an idle connection must be kept open (comments). As of November 2026, github.com/gin-contrib/sse
// (1.1.0), which gin brings along, drops write errors, sets no deadline, doesn't flush, has no comments, writes an
// event in several pieces, escapes <, > and & in JSON, and omits the space after "data:", on which simple clients of
// OpenAI's API split lines.
package wire
