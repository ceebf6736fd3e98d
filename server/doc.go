// Package server is the HTTP front end of the engine: it routes requests to the dialects, each
// of which has a package of its own.
//
// The packages below it, from shared parts to dialects:
//
//	wire                 JSON bodies, answers, streams
//	problem              any error → kind, status and code
//	access               API keys, cross-origin requests, hosts
//	registry             models, loaded on demand
//	request              a generating request of any dialect, decoded
//	generation           request → constraint → prompt → text → receipt
//	generation/layout    the parts of a text
//	generation/assess    the model's signals about its own answer
//	generation/upstream  models behind an upstream API
//	stored               responses that are kept
//	exposition           metrics
//	openai, anthropic, ollama, native, llamacpp, compat, vectors, decisions, agentapi, feedback
//
// Handlers return an answer or an error and write nothing themselves. The exception is a
// streamed answer: once its first byte is out, it reports an error as its last event. This
// package holds what all requests share (adapter.go: request id, limits, panics, logging;
// package access: API keys, cross-origin requests), the routes (routes.go; gin is used only
// there and in adapter.go), health checks and metrics.
package server
