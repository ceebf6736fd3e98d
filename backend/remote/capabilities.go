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

// The engines whose API extensions are known.
const (
	OpenAI  = "openai" // and compatible servers
	VLLM    = "vllm"
	SGLang  = "sglang"
	Llama   = "llama-server"
	Stencil = "stencil"
)

// Engines are the valid values of Capabilities.Engine.
var Engines = []string{OpenAI, VLLM, SGLang, Llama, Stencil}

// Capabilities are what an upstream offers beyond generating text.
type Capabilities struct {
	Engine     string // "": unknown, treated as OpenAI
	JSONSchema bool   // response_format with a schema is enforced
	JSONObject bool   // response_format json_object is enforced
	Logprobs   bool
	Tools      bool
}

// Capabilities returns the configured or detected capabilities.
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

// A Format is a constraint on the text, for upstreams that can enforce it.
// Exactly one field is set.
type Format struct {
	Schema  json.RawMessage // a JSON Schema
	Object  bool            // any JSON object
	Regex   string
	Grammar string // GBNF
	Choices []string
}

// Format returns the members of a request's body that request a format in the
// upstream's own syntax, and whether the upstream enforces it.
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

// saysSomething reports whether a schema has any members: upstreams reject one
// without.
func saysSomething(schema json.RawMessage) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(schema, &members) == nil && len(members) > 0
}

// strictly reports whether OpenAI's strict mode accepts a schema: it is an
// object, and every object in it requires all its properties and allows no
// others. Requests with any other schema are rejected.
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

// probeSchema is the schema of the probe for json_schema. The conversation asks
// for something else, so that a valid document is not written by chance.
const probeSchema = `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false}`

// Probe detects what the upstream offers, with a request for its list of models
// and four requests of a few tokens, and stores the result. What the upstream
// rejects or ignores counts as not offered; an error means that it could not be
// reached.
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
			r.Messages[0].Content = "Say hello. (JSON)" // some require this word
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

// owners maps a model's owned_by to the engine.
var owners = map[string]string{"vllm": VLLM, "sglang": SGLang, "llamacpp": Llama, "stencil": Stencil}

// engine identifies the upstream by its list of models. An upstream without a
// list is treated as OpenAI.
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
