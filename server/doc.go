// Package server is the HTTP front of the engine.
//
// A request takes this way, one file to each step:
//
//	routes.go       path → handler; the only file besides adapter.go that knows gin
//	adapter.go      request id, limits, panics, logging; calls the handler
//	body.go         JSON object → named fields, strictly
//	native_wire.go  fields → a native request
//	constraint.go   its constraint → a compiled schema
//	run.go          → engine, tries, validation
//	generate.go, generate_json.go   the answer, whole or as a stream (sse.go)
//	errors.go       any error → status code and body; no other file knows codes
//
// Handlers return an answer or an error and write nothing themselves, except
// that a streaming answer, once its first byte is out, reports an error as its
// last event.
//
// Every generating request ends in run.go, whatever its dialect, so that
// constraints, receipts and limits can't differ between dialects.
package server
