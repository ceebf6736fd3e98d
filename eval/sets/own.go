package sets

import (
	"encoding/json"
	"fmt"

	"github.com/stencil-json/stencil/eval"
)

// expected judges a document by its leaves, all of which are wanted.
type expected []byte

func (e expected) judge(a Answer) Score {
	s := eval.Compare(a.Document, e)
	out := Score{Fields: s.Total, Right: s.Right, Wanted: s.Total, Hits: s.Right}
	if a.Document != nil {
		out.Given = eval.Compare(a.Document, a.Document).Total
	}
	return out
}

// Own converts cases of [eval.ReadCases], each to a case of the set that its task
// names. They must have a schema and an expected document.
func Own(list []eval.Case) ([]Case, error) {
	out := make([]Case, 0, len(list))
	for _, c := range list {
		if c.Schema == nil || len(c.Expected) == 0 {
			return nil, fmt.Errorf("sets: case %q: a schema and what is expected are needed", c.ID)
		}
		one := Case{Set: c.Task, ID: c.ID, Schema: c.Schema, MaxTokens: c.MaxTokens, judge: expected(c.Expected)}
		if one.Set == "" {
			one.Set = "-"
		}
		if c.System != "" {
			one.Messages = append(one.Messages, Message{"system", c.System})
		}
		if c.Prompt != "" {
			one.Messages = append(one.Messages, Message{"user", c.Prompt})
		} else {
			var turns []Message
			if err := json.Unmarshal(c.Messages, &turns); err != nil {
				return nil, fmt.Errorf("sets: case %q: messages: %w", c.ID, err)
			}
			one.Messages = append(one.Messages, turns...)
		}
		var err error
		if one.fits, err = documentOf(one.Schema); err != nil {
			return nil, fmt.Errorf("sets: case %q: schema: %w", c.ID, err)
		}
		out = append(out, one)
	}
	return out, nil
}
