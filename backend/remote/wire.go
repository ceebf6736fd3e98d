package remote

import (
	"bytes"
	"encoding/json"
)

// A Message is one turn of a conversation.
type Message struct {
	Role    string
	Content string
	Calls   []Call // made by the assistant
	CallID  string // of the call that a message of the role "tool" answers
}

// A Call is a tool call.
type Call struct {
	ID        string
	Name      string
	Arguments string // JSON, if the model complies
}

// A Tool is a function that the model may call.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage // a JSON Schema for an object
	Strict      bool            // the upstream should enforce the schema, if it can for this one
}

// A Request is a request to the upstream.
type Request struct {
	Messages  []Message
	MaxTokens int // 0: the upstream's default
	Stop      []string

	// nil fields mean the upstream's defaults.
	Temperature, TopP, MinP, PresencePenalty, FrequencyPenalty *float32
	TopK                                                       *int
	Seed                                                       *uint64
	LogitBias                                                  map[string]float32

	Logprobs    bool
	TopLogprobs int

	Tools      []Tool
	MustCall   bool // a tool must be called; if there is only one, that one
	SingleCall bool // at most one call at a time

	// Extra are additional members of the body, such as those that request a
	// format. See Capabilities.Format.
	Extra map[string]any
}

// body returns a request as JSON.
func (c *Client) body(r *Request, stream bool) ([]byte, error) {
	m := map[string]any{"model": c.Model(), "messages": messages(r.Messages)}
	put := func(name string, value any, given bool) {
		if given {
			m[name] = value
		}
	}
	put("max_tokens", r.MaxTokens, r.MaxTokens > 0)
	put("stop", r.Stop, len(r.Stop) > 0)
	put("temperature", r.Temperature, r.Temperature != nil)
	put("top_p", r.TopP, r.TopP != nil)
	put("presence_penalty", r.PresencePenalty, r.PresencePenalty != nil)
	put("frequency_penalty", r.FrequencyPenalty, r.FrequencyPenalty != nil)
	put("seed", r.Seed, r.Seed != nil)
	put("logit_bias", r.LogitBias, len(r.LogitBias) > 0)
	put("logprobs", true, r.Logprobs)
	put("top_logprobs", r.TopLogprobs, r.Logprobs && r.TopLogprobs > 0)
	if c.Capabilities().Engine != OpenAI { // OpenAI's API has neither
		put("top_k", r.TopK, r.TopK != nil)
		put("min_p", r.MinP, r.MinP != nil)
	}
	if len(r.Tools) > 0 {
		m["tools"] = c.tools(r.Tools)
		put("tool_choice", toolChoice(r), true)
		put("parallel_tool_calls", false, r.SingleCall)
	}
	put("stream", true, stream)
	put("stream_options", map[string]bool{"include_usage": true}, stream)
	for name, value := range r.Extra {
		m[name] = value
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(m)
	return b.Bytes(), err
}

// A Token is a token of the text with its probability.
type Token struct {
	Text    string
	Bytes   []byte
	Logprob float32
	Top     []Token
}

// A Completion is a complete text.
type Completion struct {
	Text      string
	Reasoning string
	Data      json.RawMessage // the document, from upstreams that return it as data
	Refusal   string          // why the model did not answer, if given
	Calls     []Call          // of tools
	Finish    string          // stop, length, …
	Tokens    []Token         // with Request.Logprobs, if the upstream gives them
	Usage     Usage
	Tries     int
	Model     string // as the upstream calls it
}

// Usage counts tokens and their cost, over all tries.
type Usage struct {
	Prompt     int
	Completion int
	Cached     int
	Cost       float64 // in the currency of Config's prices
}

// Add adds the usage of another try.
func (u *Usage) Add(more Usage) {
	u.Prompt += more.Prompt
	u.Completion += more.Completion
	u.Cached += more.Cached
	u.Cost += more.Cost
}

// The formats of answers: whole ones and the chunks of streams.
type wireAnswer struct {
	Model   string       `json:"model"`
	Choices []wireChoice `json:"choices"`
	Usage   *wireUsage   `json:"usage"`
	Error   any          `json:"error"`
}

type wireChoice struct {
	Message  *wireMessage  `json:"message"`
	Delta    *wireMessage  `json:"delta"`
	Finish   string        `json:"finish_reason"`
	Logprobs *wireLogprobs `json:"logprobs"`
}

type wireMessage struct {
	Content          wireContent     `json:"content"`
	ReasoningContent string          `json:"reasoning_content"`
	Reasoning        string          `json:"reasoning"`
	Refusal          string          `json:"refusal"`
	Parsed           json.RawMessage `json:"parsed"`
	Calls            []wireCall      `json:"tool_calls"`
}

// size returns the bytes of an answer in a choice.
func (c *wireChoice) size() (n int) {
	for _, m := range []*wireMessage{c.Message, c.Delta} {
		if m == nil {
			continue
		}
		n += len(m.Content) + len(m.ReasoningContent) + len(m.Reasoning) + len(m.Refusal) + len(m.Parsed)
		for _, call := range m.Calls {
			n += perCall + len(call.ID) + len(call.Function.Name) + len(call.Function.Arguments)
		}
	}
	return n
}

// perCall is counted for a piece of a call, and for a token with its probability, in addition to their texts.
const perCall = 16

func (m *wireMessage) reasoning() string { return m.ReasoningContent + m.Reasoning }

// wireContent is a text, or a list of parts of which some have text.
type wireContent string

// UnmarshalJSON implements json.Unmarshaler.
func (c *wireContent) UnmarshalJSON(src []byte) error {
	var text string
	if json.Unmarshal(src, &text) == nil {
		*c = wireContent(text)
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(src, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		*c += wireContent(p.Text)
	}
	return nil
}

type wireLogprobs struct {
	Content []wireToken `json:"content"`
}

type wireToken struct {
	Token   string      `json:"token"`
	Logprob float32     `json:"logprob"`
	Bytes   []int       `json:"bytes"`
	Top     []wireToken `json:"top_logprobs"`
}

func (l *wireLogprobs) tokens() (out []Token) {
	if l == nil {
		return nil
	}
	for _, t := range l.Content {
		one := t.token()
		for _, alternative := range t.Top {
			one.Top = append(one.Top, alternative.token())
		}
		out = append(out, one)
	}
	return out
}

func (t *wireToken) token() Token {
	out := Token{Text: t.Token, Logprob: t.Logprob, Bytes: []byte(t.Token)}
	if t.Bytes != nil {
		out.Bytes = out.Bytes[:0]
		for _, b := range t.Bytes {
			out.Bytes = append(out.Bytes, byte(b))
		}
	}
	return out
}

type wireUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Details    *struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Cost *float64 `json:"cost"` // from upstreams that report it
}

// usage returns the usage of an answer, with its cost.
func (c *Client) usage(w *wireUsage) Usage {
	if w == nil {
		return Usage{}
	}
	const most = 1 << 31 // no text has more tokens, regardless of what an upstream reports
	u := Usage{Prompt: min(max(0, w.Prompt), most), Completion: min(max(0, w.Completion), most)}
	if w.Details != nil {
		u.Cached = min(max(0, w.Details.Cached), most)
	}
	const million = 1e6
	u.Cost = (float64(u.Prompt)*c.cfg.PricePrompt + float64(u.Completion)*c.cfg.PriceCompletion) / million
	if w.Cost != nil {
		u.Cost = *w.Cost
	}
	return u
}
