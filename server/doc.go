// Package server is the HTTP front of the engine: it wires the dialects, which have
// packages of their own, to their paths.
//
// From what all of them share to the dialects:
//
//	wire                 JSON bodies, answers, streams
//	problem              any error → kind, status and code
//	registry             the models, loaded when they are asked for
//	request              a generating request of any dialect, decoded
//	generation           request → constraint → prompt → text → receipt
//	generation/assess    what a model says of its own answer
//	generation/upstream  models behind someone else's API
//	openai, anthropic, ollama, native, llamacpp, compat, vectors, decisions, agentapi, feedback
//
// Handlers return an answer or an error and write nothing themselves, except that
// a streaming answer, once its first byte is out, reports an error as its last
// event. In this package are what all requests have in common (adapter.go: request
// id, limits, panics, logging; access.go: other origins, API keys), the paths
// (routes.go; gin appears there and in adapter.go), health and metrics.
package server
