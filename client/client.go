package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stencil-json/stencil/schemafrom"
)

// A Client sends requests to a server. It is safe for concurrent use and must not be changed after its first use.
type Client struct {
	// URL is the server's base URL, without a path.
	URL string
	// Key is the API key; empty: none is sent.
	Key string
	// Model is used by requests that name none; empty: the server's first.
	Model string
	// HTTP sends the requests; nil: [http.DefaultClient].
	HTTP *http.Client
	// Retries is how often a request is sent again after status 429 or 503. New sets 2.
	Retries int
}

// New returns a client of the server at url, such as http://127.0.0.1:8080.
func New(url string) *Client { return &Client{URL: strings.TrimRight(url, "/"), Retries: 2} }

// Value returns a pointer to v, for optional fields of requests in which zero is a value.
func Value[T any](v T) *T { return &v }

// A Message is a turn of a conversation.
type Message struct {
	Role    string `json:"role"` // system, user, assistant or tool
	Content string `json:"content"`
}

// A Request holds the prompt and the constraint of a generated text. Unset fields take the server's defaults.
type Request struct {
	Model    string    `json:"model,omitempty"`
	Prompt   string    `json:"prompt,omitempty"` // a text to continue; or else
	Messages []Message `json:"messages,omitempty"`
	System   string    `json:"system,omitempty"`

	// At most one of these is set; GenerateJSON without any gives any JSON.
	Schema     json.RawMessage `json:"schema,omitempty"`
	TypeScript string          `json:"typescript,omitempty"`
	Grammar    any             `json:"grammar,omitempty"` // GBNF, or an object that names a built-in grammar
	Regex      string          `json:"regex,omitempty"`
	Choice     []string        `json:"choice,omitempty"`

	Whitespace    any    `json:"whitespace,omitempty"`     // natural, compact, pretty, flexible
	OnUnsupported string `json:"on_unsupported,omitempty"` // error, validate, ignore
	OnBudget      string `json:"on_budget,omitempty"`      // close, truncate

	MaxTokens   int      `json:"max_tokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	Seed        *uint64  `json:"seed,omitempty"`
	Stop        []string `json:"stop,omitempty"`
	Timeout     float64  `json:"timeout,omitempty"` // seconds

	// More holds further fields of the body, by name.
	More map[string]any `json:"-"`
}

// body returns the request as JSON.
func (r Request) body(stream bool) ([]byte, error) {
	src, err := json.Marshal(r)
	if err != nil || len(r.More) == 0 && !stream {
		return src, err
	}
	fields := map[string]json.RawMessage{} // raw, to preserve the order of properties and the digits of numbers
	if err := json.Unmarshal(src, &fields); err != nil {
		return nil, err
	}
	for name, value := range r.More {
		if fields[name], err = json.Marshal(value); err != nil {
			return nil, err
		}
	}
	if stream {
		fields["stream"] = json.RawMessage("true")
	}
	return json.Marshal(fields)
}

// A Receipt reports what of a constraint was enforced, and how.
type Receipt struct {
	Type         string   `json:"type"` // schema, json, grammar, regex, choice, tools or structural_tag
	Hash         string   `json:"hash"`
	Enforced     []string `json:"enforced"` // keywords enforced by masks
	Checked      []Detail `json:"checked"`  // keywords only validated afterwards, and why
	Ignored      []Detail `json:"ignored"`
	Validated    bool     `json:"validated"` // an independent validator accepts the document
	Closed       bool     `json:"closed"`
	ForcedTokens int      `json:"forced_tokens"`
	TokensSaved  int      `json:"tokens_saved"`
	BudgetClosed bool     `json:"budget_closed"` // the document was closed because the budget ran out
	Shortened    []string `json:"shortened"`     // JSON pointers of values cut short to close it
	Tries        int      `json:"tries"`
	Strategy     string   `json:"strategy"`
	Pressure     struct {
		Mean float64 `json:"mean"` // share of the probability that masks removed, 0 to 1
		Max  float64 `json:"max"`
		At   string  `json:"at"` // JSON pointer
	} `json:"pressure"`
}

// A Field describes a value of a document.
type Field struct {
	Confidence   float64            `json:"confidence"`   // 0 to 1
	Alternatives map[string]float64 `json:"alternatives"` // of enums and booleans: their probabilities
}

// Usage counts tokens.
type Usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// An Answer is a generated text.
type Answer struct {
	Model        string           `json:"model"`
	JSON         json.RawMessage  `json:"json"` // the document, if the text is JSON
	Text         string           `json:"text"`
	FinishReason string           `json:"finish_reason"`
	Seed         uint64           `json:"seed"`
	Receipt      *Receipt         `json:"constraint"` // nil without a constraint
	Fields       map[string]Field `json:"fields"`     // by JSON pointer
	Usage        Usage            `json:"usage"`
	Warnings     []string         `json:"warnings"` // such as options that the server does not know
}

// An Error is an error reported by the server.
type Error struct {
	Status  int      `json:"-"` // of HTTP; 0 if it came within a stream
	Message string   `json:"message"`
	Type    string   `json:"type"`
	Param   string   `json:"param"` // the field at fault
	Code    string   `json:"code"`  // as in docs/reference/errors.md
	Details []Detail `json:"details"`
	Minimum int      `json:"minimum"` // of budget_too_small: the smallest sufficient MaxTokens
}

// A Detail is one issue of a schema, a grammar or a document.
type Detail struct {
	Pointer string `json:"pointer"`
	Keyword string `json:"keyword"`
	Reason  string `json:"reason"`
	Hint    string `json:"hint"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("stencil: %s: %s", e.Code, e.Message) }

// Generate requests a text: constrained by Grammar, Regex or Choice, or free.
func (c *Client) Generate(ctx context.Context, r Request) (*Answer, error) {
	return c.generate(ctx, "/generate", r)
}

// GenerateJSON requests a JSON document.
func (c *Client) GenerateJSON(ctx context.Context, r Request) (*Answer, error) {
	return c.generate(ctx, "/generate_json", r)
}

func (c *Client) generate(ctx context.Context, path string, r Request) (*Answer, error) {
	if r.Model == "" {
		r.Model = c.Model
	}
	body, err := r.body(false)
	if err != nil {
		return nil, fmt.Errorf("stencil: %w", err)
	}
	var out Answer
	return &out, c.call(ctx, path, body, &out)
}

// JSON requests a document of type T and decodes it. The schema is derived from T unless the request has one.
func JSON[T any](ctx context.Context, c *Client, r Request) (value T, answer *Answer, err error) {
	if r.Schema == nil && r.TypeScript == "" {
		if r.Schema, err = schemafrom.Go[T](); err != nil {
			return value, nil, err
		}
	}
	if answer, err = c.GenerateJSON(ctx, r); err != nil {
		return value, nil, err
	}
	if err := json.Unmarshal(answer.JSON, &value); err != nil {
		return value, answer, fmt.Errorf("stencil: the document fits the schema and not the type: %w", err)
	}
	return value, answer, nil
}

// A Check is the server's report on a schema or grammar.
type Check struct {
	OK       bool            `json:"ok"`
	Errors   []Detail        `json:"errors"`
	Enforced []string        `json:"enforced"` // keywords
	Checked  []Detail        `json:"checked"`
	Shortest json.RawMessage `json:"shortest"` // the shortest document
}

// CheckSchema reports what is wrong with a schema, or which of its keywords would be enforced.
func (c *Client) CheckSchema(ctx context.Context, schema json.RawMessage) (*Check, error) {
	out := new(Check)
	return out, c.post(ctx, "/schema/check", map[string]any{"schema": schema}, out)
}

// CheckGrammar is CheckSchema for a grammar in GBNF.
func (c *Client) CheckGrammar(ctx context.Context, grammar string) (*Check, error) {
	out := new(Check)
	return out, c.post(ctx, "/grammar/check", map[string]any{"grammar": grammar}, out)
}

// A Validation reports whether a document fits a schema.
type Validation struct {
	Valid      bool     `json:"valid"`
	Errors     []Detail `json:"errors"`
	Incomplete bool     `json:"incomplete"` // the text is a prefix of a document that could fit
}

// Validate reports whether text is a document that fits the schema.
func (c *Client) Validate(ctx context.Context, schema json.RawMessage, text string) (*Validation, error) {
	out := new(Validation)
	return out, c.post(ctx, "/validate", map[string]any{"schema": schema, "text": text}, out)
}

// Decide asks a question about a text and returns the probability of each choice. It generates no text.
func (c *Client) Decide(ctx context.Context, text, question string, choices ...string) (map[string]float64, error) {
	type value struct {
		Value string `json:"value"`
	}
	list := make([]value, len(choices))
	for i, choice := range choices {
		list[i].Value = choice
	}
	body := map[string]any{"input": text, "questions": []any{map[string]any{"type": "choice", "name": "choice", "instructions": question, "choices": list}}}
	if c.Model != "" {
		body["model"] = c.Model
	}
	var out struct {
		Answers []struct {
			Probabilities []struct {
				Value       string
				Probability float64
			}
		}
	}
	if err := c.post(ctx, "/decide", body, &out); err != nil {
		return nil, err
	}
	if len(out.Answers) != 1 {
		return nil, fmt.Errorf("stencil: %d answers to one question", len(out.Answers))
	}
	probabilities := map[string]float64{}
	for _, p := range out.Answers[0].Probabilities {
		probabilities[p.Value] = p.Probability
	}
	return probabilities, nil
}

// post sends body as JSON and decodes the answer into out.
func (c *Client) post(ctx context.Context, path string, body, out any) error {
	src, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("stencil: %w", err)
	}
	return c.call(ctx, path, src, out)
}

func (c *Client) call(ctx context.Context, path string, body []byte, out any) error {
	answer, err := c.send(ctx, path, body)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(out); err != nil {
		return fmt.Errorf("stencil: the answer of %s can't be read: %w", path, err)
	}
	return nil
}

// send sends a body, with retries, and returns a response with status 200.
func (c *Client) send(ctx context.Context, path string, body []byte) (*http.Response, error) {
	for try := 0; ; try++ {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+path, bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("stencil: %w", err)
		}
		request.Header.Set("Content-Type", "application/json")
		if c.Key != "" {
			request.Header.Set("Authorization", "Bearer "+c.Key)
		}
		using := c.HTTP
		if using == nil {
			using = http.DefaultClient
		}
		answer, err := using.Do(request)
		if err != nil {
			return nil, fmt.Errorf("stencil: %w", err)
		}
		if answer.StatusCode == http.StatusOK {
			return answer, nil
		}
		stop := context.AfterFunc(ctx, func() { _ = answer.Body.Close() }) // that of status 101 doesn't end with it
		refusal := errorOf(answer)
		stop()
		answer.Body.Close()
		wait, again := retryAfter(answer)
		if !again || try >= c.Retries {
			return nil, refusal
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, errors.Join(ctx.Err(), refusal)
		case <-timer.C:
		}
	}
}

// retryAfter reports whether a refused request may be sent again, and after how long.
func retryAfter(answer *http.Response) (time.Duration, bool) {
	if answer.StatusCode != http.StatusTooManyRequests && answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("X-Should-Retry") == "false" {
		return 0, false
	}
	seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		seconds = 1
	}
	return time.Duration(min(seconds, 60)) * time.Second, true
}

// errorOf reads the error in an answer.
func errorOf(answer *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	var body struct{ Error *Error }
	if err != nil || json.Unmarshal(text, &body) != nil || body.Error == nil {
		return &Error{Status: answer.StatusCode, Code: "unknown", Message: answer.Status}
	}
	body.Error.Status = answer.StatusCode
	return body.Error
}
