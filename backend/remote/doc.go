// Package remote generates text with a model behind an API: any server that
// implements OpenAI's chat completions.
//
// Such a server exposes no logits, so no mask can be applied: its output is
// checked afterwards. What else servers offer differs; it is recorded as
// [Capabilities], configured or detected with a few small requests
// ([Client.Probe]).
//
// A request that fails for a temporary reason (429, 5xx, a connection that
// breaks before the first byte) is retried, after the delay that the server
// asks for, or with exponential backoff. Tokens and costs are summed over
// all tries. Every error is an [*Error].
//
// # Why not a library
//
// github.com/openai/openai-go (3.95) reads an answer whole, however long it is
// (io.ReadAll). Here an answer is limited by max_tokens, the time limit applies
// to each event of a stream, and the API key is removed from everything that a
// server says about a failure.
package remote
