package sets

import (
	_ "embed" // for the questions
	"errors"
)

//go:embed jsonmode.jsonl
var jsonModeText []byte

//go:embed libraries.jsonl
var librariesText []byte

var jsonMode = &Set{
	Name: "json-mode", About: "questions that name what JSON is to hold but not its keys, for response_format json_object",
	build: func(*Set, [][]byte) ([]Case, error) { return buildFree(jsonModeText) },
}

var libraries = &Set{
	Name: "json-libraries", About: "the same small question in the shapes in which seven client libraries ask it in JSON mode",
	build: func(*Set, [][]byte) ([]Case, error) { return buildFree(librariesText) },
}

func buildFree(text []byte) (out []Case, err error) {
	type line struct {
		ID       string    `json:"id"`
		Prompt   string    `json:"prompt"`
		Messages []Message `json:"messages"` // instead of prompt
		Flat     bool      `json:"flat"`     // facts must be in the document itself
		Want     []fact    `json:"want"`
	}
	err = eachLine(text, func(l line) error {
		if (l.Prompt == "") == (len(l.Messages) == 0) || len(l.Want) == 0 {
			return errors.New("one of prompt and messages, and want are needed")
		}
		for _, f := range l.Want {
			if len(f.Keys) == 0 || (len(f.Values) == 0) == (len(f.Items) == 0) {
				return errors.New("a fact needs keys, and one of values and items")
			}
		}
		c := Case{ID: l.ID, Messages: l.Messages, MaxTokens: 300, judge: facts{l.Want, l.Flat}}
		if l.Prompt != "" {
			c.Messages = []Message{{"user", l.Prompt}}
		}
		out = append(out, c)
		return nil
	})
	return out, err
}
