package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
)

// The engines whose own spellings are known.
const (
	OpenAI  = "openai" // and all that do as it does
	VLLM    = "vllm"
	SGLang  = "sglang"
	Llama   = "llama-server"
	Stencil = "stencil"
)

// Engines are the names that Capabilities.Engine may have.
var Engines = []string{OpenAI, VLLM, SGLang, Llama, Stencil}

// Capabilities are what an upstream offers beyond writing text.
type Capabilities struct {
	Engine     string // "": not known, taken for OpenAI
	JSONSchema bool   // response_format with a schema is kept to
	JSONObject bool   // response_format json_object is kept to
	Logprobs   bool
	Tools      bool
}

// Capabilities returns what was configured or found.
func (c *Client) Capabilities() Capabilities {
	c.mu.Lock()
	defer c.mu.Unlock()
	caps := c.caps
	caps.Engine = cmp.Or(caps.Engine, OpenAI)
	return caps
}

// Names lists the capabilities for a log.
func (c Capabilities) Names() []string {
	out := []string{}
	for name, has := range map[string]bool{"json_schema": c.JSONSchema, "json_object": c.JSONObject, "logprobs": c.Logprobs, "tools": c.Tools} {
		if has {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// A Format is what a text is to look like, for upstreams that can keep to it.
// One of the fields is given.
type Format struct {
	Schema  json.RawMessage // a JSON Schema
	Object  bool            // any JSON object
	Regex   string
	Grammar string // GBNF
	Choices []string
}

// Format returns the members of a request's body that ask for a format in the
// upstream's own spelling, and whether the upstream keeps to it.
func (c Capabilities) Format(f Format) (map[string]any, bool) {
	own := c.Engine == VLLM || c.Engine == Stencil
	switch {
	case f.Schema != nil:
		switch {
		case own:
			return map[string]any{"structured_outputs": map[string]any{"json": f.Schema}}, true
		case c.Engine == Llama:
			return map[string]any{"json_schema": f.Schema}, true
		case c.Engine == SGLang || c.JSONSchema && saysSomething(f.Schema):
			return map[string]any{"response_format": map[string]any{
				"type": "json_schema", "json_schema": map[string]any{"name": "answer", "schema": f.Schema, "strict": c.Engine == SGLang || strictly(f.Schema)},
			}}, true
		}
	case f.Object:
		if c.JSONObject || own || c.Engine == Llama || c.Engine == SGLang {
			return map[string]any{"response_format": map[string]any{"type": "json_object"}}, true
		}
	case f.Regex != "":
		switch {
		case own:
			return map[string]any{"structured_outputs": map[string]any{"regex": f.Regex}}, true
		case c.Engine == SGLang:
			return map[string]any{"regex": f.Regex}, true
		}
	case f.Choices != nil:
		if own {
			return map[string]any{"structured_outputs": map[string]any{"choice": f.Choices}}, true
		}
	case f.Grammar != "":
		switch {
		case own:
			return map[string]any{"structured_outputs": map[string]any{"grammar": f.Grammar}}, true
		case c.Engine == Llama:
			return map[string]any{"grammar": f.Grammar}, true
		}
	}
	return nil, false
}

// saysSomething reports whether a schema says anything: upstreams refuse one
// that does not.
func saysSomething(schema json.RawMessage) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(schema, &members) == nil && len(members) > 0
}

// strictly reports whether a schema is of the kind that OpenAI's strict mode
// takes: an object, and every object in it names all its properties as required
// and allows no others. It refuses requests with any other.
func strictly(schema json.RawMessage) bool {
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return false
	}
	top, _ := root.(map[string]any)
	return top["type"] == "object" && closedObjects(root)
}

func closedObjects(node any) bool {
	switch n := node.(type) {
	case map[string]any:
		if properties, ok := n["properties"].(map[string]any); ok || n["type"] == "object" {
			required, _ := n["required"].([]any)
			if n["additionalProperties"] != false || len(required) != len(properties) {
				return false
			}
		}
		for _, child := range n {
			if !closedObjects(child) {
				return false
			}
		}
	case []any:
		for _, child := range n {
			if !closedObjects(child) {
				return false
			}
		}
	}
	return true
}

// probeSchema is what the probe for json_schema asks for. The conversation asks
// for something else, so that a document that fits was not written by chance.
const probeSchema = `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false}`

// Probe finds out what the upstream offers, with one look at its list of models
// and four requests of a few tokens, and keeps it. What the upstream refuses or
// ignores it does not offer; an error means that it could not be asked.
func (c *Client) Probe(ctx context.Context) (Capabilities, error) {
	engine, err := c.engine(ctx)
	if err != nil {
		return Capabilities{}, err
	}
	caps := Capabilities{Engine: engine}
	ask := func(change func(*Request)) (*Completion, error) {
		zero := float32(0)
		r := &Request{Messages: []Message{{Role: "user", Content: "Say hello."}}, MaxTokens: 16, Temperature: &zero, Extra: map[string]any{}}
		change(r)
		out, err := c.Complete(ctx, r)
		var e *Error
		if errors.As(err, &e) && (e.Kind == Refused || e.Kind == Unavailable || e.Kind == Malformed) {
			return nil, nil // not offered
		}
		return out, err
	}
	for _, probe := range []struct {
		found  *bool
		change func(*Request)
		kept   func(*Completion) bool
	}{
		{&caps.Logprobs, func(r *Request) { r.Logprobs = true }, func(a *Completion) bool { return len(a.Tokens) > 0 }},
		{&caps.JSONSchema, func(r *Request) {
			r.Extra["response_format"] = map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "probe", "schema": json.RawMessage(probeSchema), "strict": true}}
		}, func(a *Completion) bool {
			var got map[string]bool
			return json.Unmarshal([]byte(a.Text), &got) == nil && len(got) == 1
		}},
		{&caps.JSONObject, func(r *Request) {
			r.Messages[0].Content = "Say hello. (JSON)" // some want to read the word
			r.Extra["response_format"] = map[string]any{"type": "json_object"}
		}, func(a *Completion) bool { return strings.HasPrefix(strings.TrimSpace(a.Text), "{") }},
		{&caps.Tools, func(r *Request) {
			r.Extra["tools"] = []any{map[string]any{"type": "function", "function": map[string]any{"name": "greet", "parameters": json.RawMessage(`{"type":"object","properties":{}}`)}}}
		}, func(*Completion) bool { return true }},
	} {
		answer, err := ask(probe.change)
		if err != nil {
			return Capabilities{}, err
		}
		*probe.found = answer != nil && probe.kept(answer)
	}
	c.mu.Lock()
	c.caps = caps
	c.mu.Unlock()
	c.cfg.Log.Info("upstream probed", slog.String("url", c.cfg.URL), slog.String("model", c.Model()), slog.String("engine", caps.Engine), slog.Any("capabilities", caps.Names()))
	return caps, nil
}

// owners are engines by what they write into a model's owned_by.
var owners = map[string]string{"vllm": VLLM, "sglang": SGLang, "llamacpp": Llama, "stencil": Stencil}

// engine recognises the upstream by its list of models. An upstream without a
// list is nothing in particular.
func (c *Client) engine(ctx context.Context) (string, error) {
	var raw []byte
	_, err := c.try(ctx, func(ctx context.Context) error {
		resp, err := c.send(ctx, http.MethodGet, "/models", nil)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		raw, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		return err
	})
	var e *Error
	if errors.As(err, &e) && (e.Kind == Refused || e.Kind == Malformed) {
		return OpenAI, nil
	}
	if err != nil {
		return "", err
	}
	var list struct {
		Data []struct {
			ID    string `json:"id"`
			Owner string `json:"owned_by"`
		} `json:"data"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return OpenAI, nil
	}
	for _, m := range list.Data {
		if c.Model() == "" {
			c.cfg.Log.Info("using the first model of the upstream", slog.String("model", m.ID))
			c.mu.Lock()
			c.model = m.ID
			c.mu.Unlock()
		}
		if m.ID == c.Model() && owners[m.Owner] != "" {
			return owners[m.Owner], nil
		}
	}
	return OpenAI, nil
}
