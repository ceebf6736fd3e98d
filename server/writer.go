package server

import (
	"context"

	"stencil/asking"
	"stencil/engine"
)

// A writer writes the texts of a model: the engine that holds it here, or a server
// that is asked. Both are given the same generations.
type writer interface {
	abilities() abilities
	// ready makes a generation ready: it completes its request and its layout, and
	// refuses what the writer can't do.
	ready(g *generation) (run, error)
}

// abilities are what not every writer can do.
type abilities struct {
	tools     bool // it can be given tools
	onRequest bool // probabilities of tokens come where they are asked for, and can be
	counts    bool // it has the model's tokenizer
}

// A run writes the texts of one generation.
type run interface {
	// asked reports whether the texts are not masked: they are cleaned, checked and
	// asked for again.
	asked() bool
	// write writes one text of those that are asked for. The turns go on with the
	// conversation, after try number-1 of the choice index would not do.
	write(ctx context.Context, turns []asking.Turn, index, number int) (*choice, *asking.Written, error)
	// stream begins all texts.
	stream(ctx context.Context) (events, error)
	// again reports whether a text that was streamed can be asked for again, as long
	// as it has no words.
	again() bool
	// describe fills in how the texts are asked for.
	describe(t *asking.Task)
	// settled fills in what the writer knows of an answer, of which raw is the text
	// before it was cleaned.
	settled(c *choice, a *asking.Answer, raw string)
}

// events are what a stream is read from.
type events interface {
	// Next returns the next event, io.EOF after the last one.
	Next(ctx context.Context) (engine.Event, error)
	// beside is what came beside the text of a choice that has ended.
	beside(index int) asking.Written
	Close()
}

// writerOf returns the writer of a model: whatever stands for its text, if that
// writes, else the engine.
func writerOf(m *served) writer {
	if w, ok := m.text.(writer); ok {
		return w
	}
	return local{m}
}
