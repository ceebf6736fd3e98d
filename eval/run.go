package eval

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// The modes.
const (
	Constrained   = "constrained"   // with masks; for an upstream, the best that it supports
	Unconstrained = "unconstrained" // the model writes freely; its text is cleaned and validated
	Repaired      = "repaired"      // as Unconstrained, and repaired
)

// Modes are all modes.
var Modes = []string{Constrained, Unconstrained, Repaired}

// Config configures a run. Zero fields mean the default.
type Config struct {
	URL   string // of a stencil server
	Key   string
	Model string // "": the server's first

	Modes       []string // default: constrained and unconstrained
	Parallel    int      // default 1
	Temperature float32
	Seed        uint64
	Retries     int           // further tries after an invalid answer
	MaxTokens   int           // for cases that don't set it; default 512
	Timeout     time.Duration // per request; default 10 minutes

	Done     []Result       // results of an earlier run, which are not run again
	Write    io.Writer      // receives every result as a line of JSON; may be nil
	Progress func(done int) // called after every result; may be nil
}

// A Result is the result of one case in one mode.
type Result struct {
	ID   string `json:"id"`
	Task string `json:"task"`
	Mode string `json:"mode"`

	Valid bool `json:"valid"` // the answer fits its schema
	Score
	Scored bool `json:"scored"` // there is an expected answer

	// For a failed answer: the category and stage of the failure.
	Category string `json:"category,omitempty"`
	Stage    string `json:"stage,omitempty"`
	Error    string `json:"error,omitempty"`

	Strategy string    `json:"strategy,omitempty"` // how the model was asked: "masks", or that of the receipt
	Attempts []Attempt `json:"attempts,omitempty"` // the tries, if there were several or the last one failed

	Text       string          `json:"text,omitempty"`
	JSON       json.RawMessage `json:"json,omitempty"`
	Edits      int             `json:"edits,omitempty"` // number of changes to the text
	Tries      int             `json:"tries,omitempty"`
	Prompt     int             `json:"prompt_tokens"`
	Completion int             `json:"completion_tokens"`
	Cost       float64         `json:"cost,omitempty"`
	Millis     float64         `json:"ms"`
}

// An Attempt is one try for an answer.
type Attempt struct {
	Strategy   string `json:"strategy"`
	Stage      string `json:"stage,omitempty"` // at which it failed
	Prompt     int    `json:"prompt_tokens"`
	Completion int    `json:"completion_tokens"`
}

// key identifies the case and mode of a result.
func (r *Result) key() string { return r.Mode + "\x00" + r.ID }

// ReadResults reads the results of an earlier run. An incomplete last line is skipped.
func ReadResults(r io.Reader) ([]Result, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var out []Result
	var bad error
	for n := 1; lines.Scan(); n++ {
		if bad != nil {
			return nil, bad
		}
		var one Result
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			bad = fmt.Errorf("eval: line %d: %w", n, err)
			continue
		}
		out = append(out, one)
	}
	return out, lines.Err()
}

// errStopped is an error that ends the run, unlike the failure of a case.
var errStopped = errors.New("eval: the server can't be reached")

// Run runs cases and returns all results, including those of an earlier run. A failed
// case is a result. The error is that of the context, or means that the server is
// unreachable or that results can't be written.
func Run(ctx context.Context, cfg Config, cases []Case) ([]Result, error) {
	if len(cfg.Modes) == 0 {
		cfg.Modes = []string{Constrained, Unconstrained}
	}
	cfg.Parallel = max(1, cfg.Parallel)
	cfg.MaxTokens = cmp.Or(cfg.MaxTokens, 512)
	cfg.Timeout = cmp.Or(cfg.Timeout, 10*time.Minute)
	wanted := map[string]bool{}
	for _, mode := range cfg.Modes {
		for _, c := range cases {
			wanted[mode+"\x00"+c.ID] = true
		}
	}
	var out []Result
	for _, r := range cfg.Done {
		if wanted[r.key()] {
			out = append(out, r)
			delete(wanted, r.key())
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	type job struct {
		c    *Case
		mode string
	}
	jobs := make(chan job)
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range cfg.Parallel {
		workers.Go(func() {
			for j := range jobs {
				r, err := cfg.one(ctx, j.c, j.mode)
				mu.Lock()
				if err == nil {
					out = append(out, *r)
					err = cfg.tell(r, len(out))
				}
				mu.Unlock()
				if err != nil {
					cancel(err)
				}
			}
		})
	}
feed:
	for _, mode := range cfg.Modes {
		for i := range cases {
			if !wanted[mode+"\x00"+cases[i].ID] {
				continue
			}
			select {
			case jobs <- job{&cases[i], mode}:
			case <-ctx.Done():
				break feed
			}
		}
	}
	close(jobs)
	workers.Wait()
	return out, context.Cause(ctx)
}

func (cfg *Config) tell(r *Result, done int) error {
	if cfg.Progress != nil {
		cfg.Progress(done)
	}
	if cfg.Write == nil {
		return nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = cfg.Write.Write(append(line, '\n'))
	return err
}

// request returns the request body and path of a case in a mode.
func (cfg *Config) request(c *Case, mode string) (path string, body []byte, err error) {
	m := map[string]any{
		"max_tokens": cmp.Or(c.MaxTokens, cfg.MaxTokens), "temperature": cfg.Temperature, "seed": cfg.Seed, "retry_max": cfg.Retries,
	}
	if cfg.Model != "" {
		m["model"] = cfg.Model
	}
	if len(c.Messages) > 0 {
		m["messages"] = c.Messages
	} else {
		m["prompt"] = c.Prompt
	}
	if c.System != "" {
		m["system"] = c.System
	}
	path = "/generate"
	if c.Schema != nil {
		path = "/generate_json"
		m["schema"] = c.Schema
		m["on_unsupported"] = "validate"
		if mode != Constrained {
			m["constrained_decoding"] = false
		}
		m["repair"] = mode == Repaired
	}
	body, err = json.Marshal(m)
	return path, body, err
}

// reply is the part of a response that is evaluated.
type reply struct {
	JSON       json.RawMessage `json:"json"`
	Text       string          `json:"text"`
	Constraint *struct {
		Validated *bool             `json:"validated"`
		Tries     int               `json:"tries"`
		Edits     []json.RawMessage `json:"edits"`
		Strategy  string            `json:"strategy"`
		Attempts  []Attempt         `json:"attempts"`
	} `json:"constraint"`
	Usage struct {
		Prompt     int     `json:"prompt_tokens"`
		Completion int     `json:"completion_tokens"`
		Cost       float64 `json:"cost"`
	} `json:"usage"`
	Error *struct {
		Message string `json:"message"`
		Code    string `json:"code"`
		Text    string `json:"text"`
		Failure *struct {
			Category string    `json:"category"`
			Strategy string    `json:"strategy"`
			Stage    string    `json:"stage"`
			Tries    int       `json:"tries"`
			Attempts []Attempt `json:"attempts"`
		} `json:"failure"`
	} `json:"error"`
}

// one runs a case in a mode. An error ends the whole run.
func (cfg *Config) one(ctx context.Context, c *Case, mode string) (*Result, error) {
	out := &Result{ID: c.ID, Task: c.Task, Mode: mode, Scored: len(c.Expected) > 0}
	path, body, err := cfg.request(c, mode)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	raw, status, err := cfg.post(ctx, path, body)
	out.Millis = float64(time.Since(began).Microseconds()) / 1000
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		out.fail("timeout", "request", "no answer within the time limit")
		return out, nil
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errStopped, err)
	}
	var a reply
	if err := json.Unmarshal(raw, &a); err != nil {
		out.fail("protocol_error", "request", fmt.Sprintf("status %d: %v", status, err))
		return out, nil
	}
	out.Prompt, out.Completion, out.Cost, out.Text, out.JSON = a.Usage.Prompt, a.Usage.Completion, a.Usage.Cost, a.Text, a.JSON
	if out.JSON != nil {
		out.Text = ""
	}
	if e := a.Error; e != nil {
		out.Text = e.Text
		if e.Failure != nil {
			out.fail(e.Failure.Category, e.Failure.Stage, e.Message)
			out.Tries, out.Strategy, out.Attempts = e.Failure.Tries, e.Failure.Strategy, e.Failure.Attempts
			for _, a := range out.Attempts {
				out.Prompt += a.Prompt
				out.Completion += a.Completion
			}
		} else {
			out.fail(cmp.Or(e.Code, "error"), "request", e.Message)
		}
	}
	if a.Constraint != nil {
		out.Tries, out.Edits, out.Attempts = a.Constraint.Tries, len(a.Constraint.Edits), a.Constraint.Attempts
		out.Strategy = cmp.Or(a.Constraint.Strategy, "masks")
		if a.Error == nil && (a.Constraint.Validated == nil || !*a.Constraint.Validated) {
			out.fail("schema_violation", "schema_validation", "the answer is not valid")
		}
	}
	out.Valid = out.Category == ""
	if out.Scored {
		if c.Schema == nil {
			out.Score = CompareText(out.Text, c.Expected)
		} else {
			out.Score = Compare(out.JSON, c.Expected)
		}
	}
	return out, nil
}

func (r *Result) fail(category, stage, message string) {
	r.Category, r.Stage, r.Error = category, stage, message
}

// maxReply is the maximum size of a response in bytes.
const maxReply = 64 << 20

func (cfg *Config) post(ctx context.Context, path string, body []byte) ([]byte, int, error) {
	ctx, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(cfg.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	if cfg.Key != "" {
		req.Header.Set("Authorization", "Bearer "+cfg.Key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	defer context.AfterFunc(ctx, func() { _ = resp.Body.Close() })() // that of status 101 doesn't end with it
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	return raw, resp.StatusCode, err
}
