package server

import (
	"stencil/engine"
)

// prompt returns the tokens of a request's prompt. A prompt alone is text that
// the model goes on with, as it is; messages, or a prompt beside a system
// text, are a conversation and go through the model's chat template.
func (m *served) prompt(q *nativeRequest, schema *engine.CompiledSchema) ([]int32, error) {
	if q.Prompt != nil && q.System == nil {
		return m.engine.Vocab().Encode(*q.Prompt), nil
	}
	return nil, &requestError{Param: "messages", Code: "no_chat_template", Message: "conversations are not offered yet"}
}
