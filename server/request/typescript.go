package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/stencil-json/stencil/convert/typescript"
	"github.com/stencil-json/stencil/server/wire"
)

// schemaOf returns the JSON Schema in a field of a request: the field itself, or the conversion
// of {"typescript": declarations, "type": name}.
func schemaOf(raw json.RawMessage, param string) (json.RawMessage, error) {
	if !bytes.Contains(raw, []byte(`"typescript"`)) || raw[0] != '{' {
		return raw, nil
	}
	o, err := wire.ParseObject(raw, param+".")
	if err != nil || !o.Given("typescript") {
		return raw, nil // the schema compiler reports errors
	}
	source, name := "", ""
	for _, err := range []error{o.Only("typescript", "type"), o.Str("typescript", &source), o.Str("type", &name)} {
		if err != nil {
			return nil, err
		}
	}
	return fromTypeScript(source, name, o.Path+"typescript")
}

// fromTypeScript converts TypeScript declarations in a field of the request.
func fromTypeScript(source, name, param string) (json.RawMessage, error) {
	out, err := typescript.Convert([]byte(source), name)
	if err == nil {
		return out, nil
	}
	d := wire.Detail{Reason: err.Error()}
	var place *typescript.Error
	if errors.As(err, &place) {
		d = wire.Detail{Reason: place.Reason, Line: place.Line, Column: place.Column}
	}
	return nil, &wire.Error{Param: param, Code: "invalid_schema", Message: param + ": " + strings.TrimPrefix(err.Error(), "typescript: "), Details: []wire.Detail{d}}
}
