package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/stencil-json/stencil/models/lessons"
)

// examCase is a line of a file for stencil eval.
type examCase struct {
	ID        string            `json:"id"`
	Task      string            `json:"task"`
	Prompt    string            `json:"prompt,omitempty"`
	Messages  []lessons.Message `json:"messages,omitempty"`
	Schema    json.RawMessage   `json:"schema"`
	Expected  json.RawMessage   `json:"expected"`
	MaxTokens int               `json:"max_tokens"`
}

// exams writes n cases of every task, one per line. set is part of their
// IDs.
func exams(w io.Writer, set string, seed uint64, unseen lessons.Unseen, n int) error {
	g := lessons.New(seed, unseen)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, task := range lessons.Tasks() {
		for i := range n {
			l, _ := g.Of(task)
			err := e.Encode(examCase{
				ID: fmt.Sprintf("%s-%s-%d", task, set, i+1), Task: task + "/" + set, Prompt: l.Prompt, Messages: l.Chat,
				Schema: json.RawMessage(l.Schema), Expected: json.RawMessage(l.Answer), MaxTokens: 400,
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
