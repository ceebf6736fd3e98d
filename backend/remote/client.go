package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Config configures a client. Zero fields mean the default.
type Config struct {
	URL   string // up to and including /v1
	Key   string // sent as a bearer token; "": none
	Model string // as the upstream calls it

	Timeout time.Duration // until an answer starts, and between the parts of a stream; default 2 minutes
	Retries int           // retries after a temporary failure; default 3, negative: none
	Backoff time.Duration // delay before the first retry, doubled each time; default 500 ms
	// MaxWait is the longest delay between tries; a request is not retried if the upstream
	// asks for a longer one. Default 30 s.
	MaxWait time.Duration

	// Capabilities are what the upstream offers; nil: what Probe detects, and nothing
	// until then.
	Capabilities *Capabilities

	PricePrompt, PriceCompletion float64 // per million tokens

	Log *slog.Logger // default slog.Default()
}

// A Client sends requests to one model of one upstream. It is safe for concurrent use.
type Client struct {
	cfg  Config
	http *http.Client
	wait func(context.Context, time.Duration) error // replaced in tests

	mu    sync.Mutex
	model string
	caps  Capabilities
	sum   Usage
}

// New returns a client. It sends no request.
func New(cfg Config) (*Client, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("remote: %q is not the URL of an upstream, such as https://api.example.com/v1", cfg.URL)
	}
	cfg.URL = strings.TrimRight(cfg.URL, "/")
	cfg.Timeout = cmp.Or(cfg.Timeout, 2*time.Minute)
	cfg.Retries = max(0, cmp.Or(cfg.Retries, 3))
	cfg.Backoff = cmp.Or(cfg.Backoff, 500*time.Millisecond)
	cfg.MaxWait = cmp.Or(cfg.MaxWait, 30*time.Second)
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	c := &Client{cfg: cfg, model: cfg.Model, wait: sleep, http: &http.Client{
		// A key must not follow a redirect to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if cfg.Capabilities != nil {
		c.caps = *cfg.Capabilities
	}
	return c, nil
}

// Model returns the model's name at the upstream.
func (c *Client) Model() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.model
}

// URL returns the upstream's URL.
func (c *Client) URL() string { return c.cfg.URL }

// Total returns the usage of all requests so far.
func (c *Client) Total() Usage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sum
}

func (c *Client) count(u Usage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum.Add(u)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// maxAnswer limits the body of an answer, in bytes.
const maxAnswer = 64 << 20

// Complete requests a whole text. The error is an *Error, or the context's cause.
func (c *Client) Complete(ctx context.Context, r *Request) (*Completion, error) {
	body, err := c.body(r, false)
	if err != nil {
		return nil, &Error{Kind: Malformed, Cause: err}
	}
	var out *Completion
	var spent Usage
	tries, err := c.try(ctx, func(ctx context.Context) error {
		resp, err := c.post(ctx, "/chat/completions", body)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		var used Usage
		out, used, err = c.read(resp, r.most())
		spent.Add(used)
		c.count(used)
		return err
	})
	if err != nil {
		return nil, err
	}
	out.Usage, out.Tries = spent, tries
	return out, nil
}

// read reads a whole answer and its usage, which counts even if the answer is unusable.
func (c *Client) read(resp *http.Response, most int) (*Completion, Usage, error) {
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, Usage{}, &Error{Kind: Unreachable, Status: resp.StatusCode, Cause: err}
	}
	if len(raw) > maxAnswer {
		return nil, Usage{}, &Error{Kind: Malformed, Status: resp.StatusCode, Message: "the answer is too long"}
	}
	var a wireAnswer
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, Usage{}, &Error{Kind: Malformed, Status: resp.StatusCode, Message: excerpt(c.hide(raw)), Cause: err}
	}
	used := c.usage(a.Usage)
	if a.Error != nil {
		e := &Error{Kind: Unavailable, Status: resp.StatusCode}
		e.words(c.hide(raw))
		return nil, used, e
	}
	if len(a.Choices) == 0 || a.Choices[0].Message == nil {
		return nil, used, &Error{Kind: Malformed, Status: resp.StatusCode, Message: "the answer has no message"}
	}
	first := a.Choices[0]
	if first.size() > most {
		return nil, used, tooMuch(resp.StatusCode)
	}
	out := &Completion{
		Text: string(first.Message.Content), Reasoning: first.Message.reasoning(), Refusal: first.Message.Refusal,
		Finish: cmp.Or(first.Finish, "stop"), Tokens: first.Logprobs.tokens(), Model: a.Model, Calls: first.Message.calls(),
	}
	if len(first.Message.Parsed) > 0 && string(first.Message.Parsed) != "null" {
		out.Data = first.Message.Parsed
	}
	return out, used, nil
}

// Limits on the bytes of a text per token, and in addition. Tokens are rarely longer
// than 16 bytes, and not all upstreams count reasoning and calls.
const (
	mostPerToken = 64
	mostBeside   = 256 << 10
)

// most returns how many bytes an answer may have: text, reasoning and calls together.
func (r *Request) most() int {
	if r.MaxTokens <= 0 {
		return maxAnswer
	}
	return min(maxAnswer, mostBeside+mostPerToken*min(r.MaxTokens, maxAnswer))
}

func tooMuch(status int) *Error {
	return &Error{Kind: Malformed, Status: status, Message: "the answer is far longer than max_tokens allows"}
}

// hidden replaces the client's key in the upstream's messages: some quote it.
const hidden = "[key]"

func (c *Client) hide(said []byte) []byte {
	if c.cfg.Key == "" {
		return said
	}
	return bytes.ReplaceAll(said, []byte(c.cfg.Key), []byte(hidden))
}

// redact removes the key from an error, where it may have been written with escapes
// before.
func (c *Client) redact(e *Error) {
	if c.cfg.Key != "" {
		e.Message, e.Code = strings.ReplaceAll(e.Message, c.cfg.Key, hidden), strings.ReplaceAll(e.Code, c.cfg.Key, hidden)
	}
}

// try calls f until it succeeds, fails permanently or has failed too often.
func (c *Client) try(ctx context.Context, f func(context.Context) error) (tries int, err error) {
	wait := c.cfg.Backoff
	for tries = 1; ; tries++ {
		err = f(ctx)
		if err == nil {
			return tries, nil
		}
		if ctx.Err() != nil {
			return tries, context.Cause(ctx)
		}
		var e *Error
		if !errors.As(err, &e) {
			e = &Error{Kind: Unreachable, Cause: err}
		}
		e.Tries = tries
		c.redact(e)
		// Half of the delay is random, so that clients that failed together don't retry
		// together.
		pause := wait/2 + rand.N(wait/2+1)
		if e.RetryAfter > 0 {
			pause = e.RetryAfter
		}
		if tries > c.cfg.Retries || !e.Passes() || pause > c.cfg.MaxWait {
			return tries, e
		}
		c.cfg.Log.Warn("upstream request failed, retrying", slog.String("url", c.cfg.URL), slog.String("kind", e.Kind.String()),
			slog.Int("status", e.Status), slog.Int("try", tries), slog.Duration("wait", pause))
		if err := c.wait(ctx, pause); err != nil {
			return tries, err
		}
		wait = min(2*wait, c.cfg.MaxWait)
	}
}

// errSlow is the cause of contexts cancelled because the upstream was too slow.
var errSlow = errors.New("no answer within the time limit")

// post sends a request and returns the answer if it is successful. The time limit runs
// until the header has arrived.
func (c *Client) post(ctx context.Context, path string, body []byte) (*http.Response, error) {
	return c.send(ctx, http.MethodPost, path, body)
}

func (c *Client) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	limit := time.AfterFunc(c.cfg.Timeout, func() { cancel(errSlow) })
	req, err := http.NewRequestWithContext(ctx, method, c.cfg.URL+path, bytes.NewReader(body))
	if err != nil {
		cancel(nil)
		return nil, &Error{Kind: Refused, Cause: err}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.cfg.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.cfg.Key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		kind := Unreachable
		if errors.Is(context.Cause(ctx), errSlow) {
			kind, err = TimedOut, errSlow
		}
		cancel(nil)
		return nil, &Error{Kind: kind, Cause: err}
	}
	if resp.StatusCode < http.StatusOK {
		// After 101 the body is the connection itself, whose reads end with no context.
		limit.Stop()
		cancel(nil)
		_ = resp.Body.Close()
		return nil, statusError(resp, nil, time.Now())
	}
	b := &timedBody{body: resp.Body, limit: limit, each: c.cfg.Timeout, cancel: cancel, ctx: ctx}
	b.stop = context.AfterFunc(ctx, func() { _ = b.body.Close() })
	resp.Body = b
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		words, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // as much as can be read
		return nil, statusError(resp, c.hide(words), time.Now())
	}
	return resp, nil
}

// timedBody applies the time limit to every read of a body.
type timedBody struct {
	body   io.ReadCloser
	limit  *time.Timer
	each   time.Duration
	cancel context.CancelCauseFunc
	ctx    context.Context
	stop   func() bool // ends the closing of the body with the context
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	b.limit.Reset(b.each)
	n, err := b.body.Read(p)
	if err != nil && err != io.EOF && errors.Is(context.Cause(b.ctx), errSlow) {
		err = &Error{Kind: TimedOut, Cause: errSlow}
	}
	return n, err
}

// Close implements io.Closer.
func (b *timedBody) Close() error {
	b.limit.Stop()
	b.stop()
	err := b.body.Close()
	b.cancel(nil)
	return err
}
