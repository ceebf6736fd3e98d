// Package server is the HTTP front of the engine. It speaks its own dialect and
// those of OpenAI, Anthropic and Ollama, and of TGI and SGLang on /generate.
//
// A request takes this way, one file to each step:
//
//	routes.go       path → handler; the only file besides adapter.go that knows gin
//	access.go       other origins, API keys
//	adapter.go      request id, limits, panics, logging; calls the handler
//	body.go         JSON object → named fields, strictly
//	names.go        what is done about fields that are not known
//	*_wire.go       fields → a query, the same for all dialects (query.go)
//	constraint.go, spellings.go, tools.go   what its text must look like, however it is spelt
//	host.go         its model, loaded if it is not in memory
//	rule.go         its constraint, compiled; reasoning.go: what comes before it
//	prompt.go       its prompt
//	run.go          → engine, tries, validation; stream.go: the same as it comes
//	parts.go        the text → answer, reasoning, calls of tools
//	trace.go        its tokens → confidence and pressure; scan.go: where values are
//	receipt.go      what was done about the constraint
//	errors.go       any error → status code and body; no other file knows codes
//
// and a file for each endpoint that writes the answer, whole or through a sink.
//
// agent.go runs trees of questions: agent_ask.go puts each of them as any other
// request, agent_paused.go keeps the runs that wait for their users.
//
// signals_fields.go reads that a model is to assess its answer, signals_outline.go
// and signals_text.go put what it says beside the answer and take it out again
// (signals_wrap.go: where an upstream keeps to a schema), signals_stream.go keeps
// it out of streams, signals.go weighs it. feedback.go is told what became of
// answers.
//
// Handlers return an answer or an error and write nothing themselves, except
// that a streaming answer, once its first byte is out, reports an error as its
// last event.
//
// Every generating request ends in run.go or stream.go, whatever its dialect,
// so that constraints, receipts and limits can't differ between dialects.
package server
