package llamacpp

import (
	"errors"
	"net/http"

	"github.com/stencil-json/stencil/server/infill"
	"github.com/stencil-json/stencil/server/wire"
)

// Infill handles POST /infill: it generates code between a prefix and a suffix, for editors. It accepts the fields of
// /completion too.
func (s *Handlers) Infill(r *http.Request) (wire.Answer, error) {
	o, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	in, err := readInfill(o)
	if err != nil {
		return nil, err
	}
	q, err := readCompletion(o)
	if err != nil {
		return nil, err
	}
	m, err := s.Models.Named(r.Context(), q.Model, q.KeepAlive)
	if err != nil {
		return nil, err
	}
	tokens, err := in.Prompt(r.Context(), m, q.MaxTokens)
	if errors.Is(err, infill.ErrNotSupported) {
		return nil, notSupported("infill_not_supported", "the model %q has no tokens for filling in text", m.Name)
	}
	if err != nil {
		return nil, err
	}
	q.prompts, q.many = []prompt{{{tokens: tokens}}}, false
	return s.complete(r, q)
}

// readInfill removes its fields from a body, and leaves a prompt for /completion.
func readInfill(o *wire.Object) (*infill.Gap, error) {
	in := new(infill.Gap)
	for _, err := range []error{
		o.Str("input_prefix", &in.Prefix), o.Str("input_suffix", &in.Suffix), o.Str("prompt", &in.Begun),
	} {
		if err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"input_prefix", "input_suffix"} {
		if !o.Given(name) {
			return nil, wire.Invalid(name, "%s is missing", name)
		}
	}
	extra, err := o.List("input_extra")
	if err != nil {
		return nil, err
	}
	for _, one := range extra {
		f := infill.File{Name: "tmp"}
		if !one.Given("text") {
			return nil, wire.Invalid(one.Path+"text", "%stext is missing", one.Path)
		}
		for _, err := range []error{one.Str("text", &f.Text), one.Str("filename", &f.Name)} {
			if err != nil {
				return nil, err
			}
		}
		in.Files = append(in.Files, f)
	}
	names := o.Names[:0:0]
	for _, name := range o.Names {
		switch name {
		case "input_prefix", "input_suffix", "input_extra", "prompt":
		default:
			names = append(names, name)
		}
	}
	o.Names, o.Members["prompt"] = append(names, "prompt"), []byte(`""`)
	return in, nil
}
