package remote

import (
	"errors"
	"sync"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/vocab"
)

// ErrNoLogits is returned for a context: the model's logits are not
// accessible.
var ErrNoLogits = errors.New("remote: the model is behind an upstream that gives no logits")

// A Model presents the upstream's model as a backend.Model. Its vocabulary has
// a token for each byte, so that constraints can be compiled and texts checked
// against them.
type Model struct{ client *Client }

var _ backend.Model = (*Model)(nil)

// NewModel returns the model behind a client.
func NewModel(c *Client) *Model { return &Model{c} }

// byteVocab has a token for each byte, and an end-of-sequence token.
var byteVocab = sync.OnceValue(func() *vocab.Vocab {
	tokens := make([]vocab.Token, 257)
	const hex = "0123456789ABCDEF"
	for i := range 256 {
		tokens[i] = vocab.Token{Text: "<0x" + string(hex[i>>4]) + string(hex[i&15]) + ">", Kind: vocab.Byte}
	}
	tokens[256] = vocab.Token{Text: "</s>", Kind: vocab.Control}
	end, no := int32(256), false
	v, err := vocab.FromTokens(tokens, vocab.Options{Model: vocab.SPM, EOS: &end, AddBOS: &no, AddSpacePrefix: &no})
	if err != nil {
		panic(err) // the table above is constant
	}
	return v
})

// Vocab implements backend.Model.
func (m *Model) Vocab() *vocab.Vocab { return byteVocab() }

// Info implements backend.Model.
func (m *Model) Info() backend.Info {
	return backend.Info{Path: m.client.URL(), Description: m.client.Model() + " at " + m.client.URL(), Architecture: "remote"}
}

// NewContext implements backend.Model. It returns ErrNoLogits.
func (m *Model) NewContext(backend.ContextParams) (backend.Context, error) { return nil, ErrNoLogits }

// Close implements backend.Model. It does nothing.
func (m *Model) Close() error { return nil }
