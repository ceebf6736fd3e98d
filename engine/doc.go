// Package engine turns requests into text: it schedules sequences on one model
// context, and joins the model, the constraint and the sampler in the decode
// loop.
//
// # Who owns what
//
// One goroutine, the loop, owns the model's context and everything about
// sequences and slots. Others reach it in three ways only:
//
//   - [Engine.Submit] puts a job into the queue, under Engine.mu;
//   - a job's context.Context, when it ends, wakes the loop;
//   - the loop appends events to a job's [Stream], which has its own lock and
//     never makes the loop wait for a reader.
//
// The loop has a thread of its own, and what it does between two batches is
// kept short: nothing is allocated for a step, nobody is woken who need not be.
// Masks, sampling and matchers of the sequences take their turns on the loop's
// goroutine, or on a few workers when there is so much to do that waking them
// pays: masks, if they have lately been slow to find, while the batch is
// decoded, and sampling side by side.
//
//	loop      │ batch │        decode         │ sample │ batch │ decode …
//	workers   │       │ masks of next step    │ sample │       │ masks …
//
// Readers are told of text at once when there are some milliseconds to the next
// token, and of several tokens together when a model is faster than anyone
// could read.
//
// # A sequence
//
// A sequence is its tokens, the prompt's and those generated, of which the
// first so many have been decoded. What is left over is what it puts into the
// next batch: a chunk of a long prompt, one sampled token, or a sampled token
// and the forced text behind it. A sequence whose cells had to be given up for
// others starts again from its tokens; nothing else about it changes.
//
// # Slots
//
// A slot is one of the backend's sequences. When a job ends, its slot keeps
// the tokens it has computed; a new prompt starts from the longest beginning
// that any slot has, busy or idle. The least recently used idle slot is given
// up first.
//
// # Repeatable results
//
// Where the results of a backend depend on how a prompt was cut into batches
// ([backend.Grained]), prompts are always cut in the same way, and reused up to
// such a place; spans.go has the reasons. A sequence that runs alone has its cells
// from the first one on.
//
// # Checkpoints and the prompt cache
//
// Some models can't go back: recurrent and hybrid ones hold a state that stands
// where their last token left it. For them a slot is of use only to a prompt that
// begins with all of its tokens, so the engine keeps checkpoints: states as they
// were at certain positions, in memory, the least recently used given up first. A
// prompt starts from the longest of them that it begins with. The positions are
// the marks of a request (see [Engine.WantsMarks]) and the end of its prompt, as long
// as they are some way apart; batches end there. When a slot is given up, what it
// held becomes a checkpoint too, so that a conversation can go on.
//
// With a prompt cache, see package promptcache, the states of long beginnings
// also go to disk, of every model, and come back after a restart. Reading is done
// in the background: a sequence whose beginning is being read waits, and others
// go first. The loop's part is to take a state out of the backend and to put it
// back, which takes about as long as to copy it.
//
// # Drafts
//
// With Config.Draft, what is likely to follow a sampled token is guessed and put
// into the batch with it: what followed the last place that reads like the end of
// the text, as far as the constraint allows it, and what that forces behind it. The
// batch has a row of logits for each place at which something is asked. The
// sequence goes on as always, a row after the other, until it writes something
// else; the cells behind that are given back. See guess.go for the guesses,
// prices.go for how many of them are worth their places.
//
// # The budget
//
// A constrained document is always completed within MaxTokens: a token is
// accepted only if afterwards the shortest completion, spelt in tokens that
// the constraint allows, still fits. The engine holds such a spelling whenever
// the budget is tight, so there is always a way out. See budget.go.
package engine
