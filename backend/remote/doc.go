// Package remote writes text with a model behind someone else's API: any
// server that speaks OpenAI's chat completions.
//
// Such a server gives no logits, so no mask can be laid over them: what it
// writes is checked afterwards. What it does offer differs from server to
// server and is kept as [Capabilities], configured or found out with a few
// small requests ([Client.Probe]).
//
// A request that fails for a reason that passes (429, 5xx, a connection that
// breaks before the first byte) is tried again, after as long as the server
// asks for or twice as long as the last time. Tokens and money are added up
// over all tries. Every error is an [*Error].
package remote
