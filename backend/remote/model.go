package remote

import (
	"errors"
	"sync"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/vocab"
)

// ErrNoLogits says that a context was asked for: the model is elsewhere, and
// its logits can't be reached.
var ErrNoLogits = errors.New("remote: the model is behind an upstream that gives no logits")

// A Model is the upstream's model as far as it can be one here. Its vocabulary
// has a token for each byte, so that constraints can be compiled and texts be
// checked against them.
type Model struct{ client *Client }

var _ backend.Model = (*Model)(nil)

// NewModel returns the model behind a client.
func NewModel(c *Client) *Model { return &Model{c} }

// byteVocab has a token for each byte, and one that ends a text.
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
		panic(err) // the table above is always the same
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

// Close implements backend.Model. There is nothing to free.
func (m *Model) Close() error { return nil }
