// Package engine turns requests into text: it schedules sequences on one model
// context, and runs the model, the constraint and the sampler in its decode loop.
//
// # Ownership
//
// One goroutine, the loop, owns the model's context and the state of all sequences
// and slots. Other goroutines reach it in three ways only:
//
//   - [Engine.Submit] puts a job into the queue, under Engine.mu;
//   - a job's context.Context, when it ends, wakes the loop;
//   - the loop appends events to a job's [Stream], which has its own lock and
//     never blocks the loop on a reader.
//
// The loop locks its OS thread and does little between two batches: a step allocates
// nothing and wakes no goroutine unnecessarily. Masks, sampling and matchers run on
// the loop's goroutine, or on a few workers when there is enough work to pay for
// waking them: masks while the batch is decoded, if they have been slow to compute
// lately, and sampling of several sequences in parallel.
//
//	loop      │ batch │        decode         │ sample │ batch │ decode …
//	workers   │       │ masks of next step    │ sample │       │ masks …
//
// Readers receive text at once when the next token is some milliseconds away, and
// several tokens together when the model is faster than that.
//
// # Sequences
//
// A sequence consists of its tokens, those of the prompt and those generated; a
// prefix of them has been decoded. The rest is what it puts into the next batch: a
// chunk of a long prompt, one sampled token, or a sampled token and the forced text
// after it. A sequence that had to give up its KV cells to others restarts from its
// tokens; nothing else about it changes.
//
// # Slots
//
// A slot is one of the backend's sequences. When a job ends, its slot keeps the
// tokens it has computed; a new prompt starts from the longest prefix that any slot
// holds, busy or idle. The least recently used idle slot is reused first.
//
// # Reproducible results
//
// If the results of a backend depend on how a prompt is split into batches
// ([backend.Grained]), prompts are always split in the same way and reused only up to
// such a split; package prefix has the reasons. The KV cells of a sequence that runs alone
// start at the first one.
//
// # Checkpoints and the prompt cache
//
// Recurrent and hybrid models can't rewind: they hold a state that includes all
// tokens up to the last. For them a slot is useful only to a prompt that begins with
// all of its tokens, so the engine keeps checkpoints: copies of the state at certain
// positions, in memory, evicted least recently used first. A prompt starts from the
// longest checkpoint that is a prefix of it. The positions are the marks of a request
// (see [Engine.WantsMarks]) and the end of its prompt, if they are far enough apart;
// batches end there. When a slot is given up, its contents become a checkpoint too,
// so that a conversation can continue.
//
// With a prompt cache (see package promptcache), the states of long prefixes are also
// written to disk, for every model, and survive a restart. Reading happens in the
// background: a sequence whose prefix is being read waits, and others run meanwhile.
// The loop only copies states out of the backend and back into it.
//
// # Drafts
//
// With Config.Draft, the engine guesses the tokens after a sampled token and puts
// them into the batch with it: those that followed the last place whose text
// resembles the end of the current text, as far as the constraint allows them, and
// the tokens that they force. The batch has a row of logits for each position at
// which a token is sampled. The sequence then samples from one row after the other,
// as it would without drafts, until it differs from the draft; the KV cells after
// that are released. See guess.go for the guesses and prices.go for how many of them
// are worth decoding.
//
// # The budget
//
// A constrained document is always completed within MaxTokens: a token is accepted
// only if the shortest completion after it, in tokens that the constraint allows,
// still fits. While the budget is tight the engine holds such a completion, so it can
// always finish. See budget.go.
package engine
