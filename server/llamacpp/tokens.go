package llamacpp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"unicode/utf8"

	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/openai"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
	"github.com/stencil-json/stencil/vocab"
)

type tokensReply struct {
	Tokens any `json:"tokens"` // numbers, or pieces
}

type pieceReply struct {
	ID    int32 `json:"id"`
	Piece any   `json:"piece"` // text, or an array of bytes if it is not UTF-8
}

// maxTokenized is how many bytes of text a request may have tokenized: a text is tokenized in one go, at about a MB a
// second.
const maxTokenized = 4 << 20

// Tokenize handles POST /tokenize: it returns the tokens of a text, or of a sequence of texts and tokens.
func (s *Handlers) Tokenize(r *http.Request) (wire.Answer, error) {
	o, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	special, parse, pieces := false, true, false
	for _, err := range []error{
		o.Only("model", "content", "add_special", "parse_special", "with_pieces"),
		o.Boolean("add_special", &special), o.Boolean("parse_special", &parse), o.Boolean("with_pieces", &pieces),
	} {
		if err != nil {
			return nil, err
		}
	}
	m, err := s.modelOf(r, o)
	if err != nil {
		return nil, err
	}
	v := m.Text.Vocab()
	tokens := []int32{}
	if o.Given("content") {
		parts, err := contentOf(o)
		if err != nil {
			return nil, err
		}
		size := 0
		for _, part := range parts {
			size += len(part.text)
		}
		if size > maxTokenized {
			return nil, problem.New(problem.Problem{
				Status: http.StatusRequestEntityTooLarge, Kind: problem.Invalid, Param: "content", Code: "text_too_long",
				Message: fmt.Sprintf("content has %d bytes of text; at most %d are tokenized at once", size, maxTokenized),
			})
		}
		for i, part := range parts {
			switch {
			case part.tokens != nil:
				tokens = append(tokens, part.tokens...)
			case i == 0 && special:
				tokens, err = marked(r.Context(), v, part.text, parse)
			default:
				tokens, err = vocab.TokenizeContext(r.Context(), v, tokens, part.text, parse)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	if !pieces {
		return wire.JSON{Value: tokensReply{tokens}}, nil
	}
	list := make([]pieceReply, 0, len(tokens))
	for _, id := range tokens {
		if err := inVocab(v, "content", id); err != nil {
			return nil, err
		}
		piece := v.Piece(id)
		one := pieceReply{id, piece}
		if !utf8.ValidString(piece) {
			one.Piece = generation.ByteList([]byte(piece))
		}
		list = append(list, one)
	}
	return wire.JSON{Value: tokensReply{list}}, nil
}

// marked returns the tokens of a text, with those that the model expects before and after texts.
func marked(ctx context.Context, v *vocab.Vocab, text string, parse bool) ([]int32, error) {
	if parse {
		return vocab.EncodeContext(ctx, v, text)
	}
	var out []int32
	if id, ok := v.BOS(); ok && v.AddBOS() {
		out = append(out, id)
	}
	out, err := vocab.TokenizeContext(ctx, v, out, text, false)
	if id, ok := v.EOS(); ok && v.AddEOS() {
		out = append(out, id)
	}
	return out, err
}

// contentOf reads a text, or a list of texts and token numbers.
func contentOf(o *wire.Object) (prompt, error) {
	const want = "a string, or an array of strings and token numbers"
	var text string
	if json.Unmarshal(o.Members["content"], &text) == nil {
		return prompt{{text: text}}, nil
	}
	var list []json.RawMessage
	if json.Unmarshal(o.Members["content"], &list) != nil {
		return nil, o.WrongType("content", want)
	}
	var out prompt
	for _, raw := range list {
		var id int32
		var part promptPart
		switch {
		case isNumber(raw) && json.Unmarshal(raw, &id) == nil:
			part.tokens = []int32{id}
		case json.Unmarshal(raw, &part.text) == nil && string(raw) != "null":
		default:
			return nil, o.WrongType("content", want)
		}
		out = append(out, part)
	}
	return out, nil
}

// inVocab refuses a number that is not a token.
func inVocab(v *vocab.Vocab, param string, id int32) error {
	if id < 0 || int(id) >= v.Len() {
		return wire.Invalid(param, "%s has the token %d, the vocabulary ends at %d", param, id, v.Len()-1)
	}
	return nil
}

type contentReply struct {
	Content string `json:"content"`
}

// Detokenize handles POST /detokenize: it returns the text of tokens, including control tokens.
func (s *Handlers) Detokenize(r *http.Request) (wire.Answer, error) {
	o, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	var tokens []int32
	for _, err := range []error{o.Only("model", "tokens"), o.Decode("tokens", &tokens, "an array of token numbers")} {
		if err != nil {
			return nil, err
		}
	}
	m, err := s.modelOf(r, o)
	if err != nil {
		return nil, err
	}
	v := m.Text.Vocab()
	var text []byte
	for _, id := range tokens {
		if err := inVocab(v, "tokens", id); err != nil {
			return nil, err
		}
		text = append(text, v.Piece(id)...)
	}
	return wire.JSON{Value: contentReply{generation.Spelt(text)}}, nil
}

type promptReply struct {
	Prompt string `json:"prompt"`
}

// ApplyTemplate handles POST /apply-template: it renders a conversation with the model's template. The body is that of
// a chat request.
func (s *Handlers) ApplyTemplate(r *http.Request) (wire.Answer, error) {
	q, open, err := s.readChat(r)
	if err != nil {
		return nil, err
	}
	m, err := s.Models.Named(r.Context(), q.Model, q.KeepAlive)
	if err != nil {
		return nil, err
	}
	if err := q.Fill(s.Defaults.Over(m.Text.Model().Info().Sampling)); err != nil {
		return nil, err
	}
	text, err := generation.Written(m, q, open)
	if err != nil {
		return nil, err
	}
	return wire.JSON{Value: promptReply{text}}, nil
}

// readChat reads a chat request, and whether the answer begins after it.
func (s *Handlers) readChat(r *http.Request) (q *request.Request, open bool, err error) {
	o, err := wire.ReadObject(r)
	if err != nil {
		return nil, false, err
	}
	goOn := false
	open = true
	if err := o.Boolean("continue_final_message", &goOn); err != nil {
		return nil, false, err
	}
	if err := o.Boolean("add_generation_prompt", &open); err != nil {
		return nil, false, err
	}
	if !goOn {
		delete(o.Members, "add_generation_prompt")
	}
	q, err = openai.ReadChat(o)
	return q, open || goOn, err
}

type countReply struct {
	Object      string `json:"object"`
	InputTokens int    `json:"input_tokens"`
}

// CountChat handles POST /v1/chat/completions/input_tokens: it returns the number of tokens of a chat's prompt.
func (s *Handlers) CountChat(r *http.Request) (wire.Answer, error) {
	q, _, err := s.readChat(r)
	if err != nil {
		return nil, err
	}
	m, g, err := s.Accept(r, q)
	if err != nil {
		return nil, err
	}
	if !generation.WriterOf(m).Abilities().Counts {
		return nil, wire.NotOffered("model", fmt.Sprintf("counting the tokens of %q, which is behind an upstream,", m.Name))
	}
	return wire.JSON{Value: countReply{"response.input_tokens", len(g.Job.Prompt)}}, nil
}
