package arms

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/stencil-json/stencil/eval/sets"
)

// Config configures a run. Zero fields mean the default.
type Config struct {
	Arms     []Arm
	Key      string        // sent to all servers as a bearer token
	Parallel int           // concurrent cases, each of which runs its arms in turn; default 1
	Timeout  time.Duration // per request; default 10 minutes

	Done     []Result       // results of an earlier run, which are not run again
	Write    io.Writer      // receives every result as a line of JSON; may be nil
	Progress func(done int) // called after every result; may be nil
}

// A Result is the result of one case in one arm.
type Result struct {
	Set     string `json:"set"`
	ID      string `json:"id"`
	Arm     string `json:"arm"`
	Model   string `json:"model"`
	Request string `json:"request"` // start of the SHA-256 of the request, without a model that the server chose

	message
	sets.Score

	// For a failed request: "timeout", "protocol", or the status; and the reason.
	Failure string `json:"failure,omitempty"`
	Error   string `json:"error,omitempty"`

	Finish     string  `json:"finish,omitempty"`
	Prompt     int     `json:"prompt_tokens"`
	Completion int     `json:"completion_tokens"`
	Forced     *int    `json:"forced_tokens,omitempty"` // those of the completion without a choice; nil: the server doesn't say
	Seconds    float64 `json:"seconds"`

	calling bool // calls are wanted, or should be absent
}

// place identifies the case and arm of a result.
type place struct{ arm, set, id string }

func (r *Result) place() place { return place{r.Arm, r.Set, r.ID} }

// maxLine is the maximum length of a line of results in bytes.
const maxLine = 64 << 20

// ReadResults reads the results of an earlier run. Errors name the line.
func ReadResults(r io.Reader) (out []Result, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		var one Result
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		if err := d.Decode(&one); err != nil {
			return nil, fmt.Errorf("arms: line %d: %w", n, err)
		}
		out = append(out, one)
	}
	return out, lines.Err()
}

// job is a case to run in an arm.
type job struct {
	arm     *Arm
	c       *sets.Case
	body    map[string]any
	request string
}

// Run runs every case in every arm and returns all results, including those of an
// earlier run, which are scored again. A failed request is a result. The error is
// that of the context, or means that an arm can't ask for a case, that earlier
// results belong to other requests, that a server is unreachable, or that results
// can't be written.
func Run(ctx context.Context, cfg Config, cases []sets.Case) ([]Result, error) {
	cfg.Parallel = max(1, cfg.Parallel)
	if cfg.Timeout == 0 {
		cfg.Timeout = 10 * time.Minute
	}
	done := map[place]*Result{}
	for i := range cfg.Done {
		done[cfg.Done[i].place()] = &cfg.Done[i]
	}
	var out []Result
	var open [][]job // by case
	for i := range cases {
		var jobs []job
		for k := range cfg.Arms {
			// Each arm goes first equally often: later arms find more of the prompt
			// in a cache.
			arm := &cfg.Arms[(i+k)%len(cfg.Arms)]
			j, err := newJob(arm, &cases[i])
			if err != nil {
				return nil, err
			}
			r := done[place{arm.Name, cases[i].Set, cases[i].ID}]
			if r == nil {
				jobs = append(jobs, j)
				continue
			}
			if r.Request != j.request {
				return nil, fmt.Errorf("arms: the results have an answer of %s to %s %s, but to another request; write to another file", arm.Name, r.Set, r.ID)
			}
			again := *r
			again.judge(arm, &cases[i])
			out = append(out, again)
		}
		if len(jobs) > 0 {
			open = append(open, jobs)
		}
	}
	if len(open) == 0 {
		return out, nil
	}
	models, err := cfg.models(ctx)
	if err != nil {
		return out, err
	}
	for i := range out {
		if r := &out[i]; r.Model != models[r.Arm] {
			return nil, fmt.Errorf("arms: the results of %s are of the model %s, the server has %s now; write to another file", r.Arm, r.Model, models[r.Arm])
		}
	}
	return cfg.work(ctx, open, models, out)
}

// work runs the open jobs, several cases concurrently.
func (cfg *Config) work(ctx context.Context, open [][]job, models map[string]string, out []Result) ([]Result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	todo := make(chan []job)
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range cfg.Parallel {
		workers.Go(func() {
			for jobs := range todo {
				for _, j := range jobs {
					r, err := cfg.one(ctx, j, models[j.arm.Name])
					if err == nil {
						mu.Lock()
						out = append(out, *r)
						err = cfg.tell(r, len(out))
						mu.Unlock()
					}
					if err != nil {
						cancel(err)
						break
					}
				}
			}
		})
	}
feed:
	for _, jobs := range open {
		select {
		case todo <- jobs:
		case <-ctx.Done():
			break feed
		}
	}
	close(todo)
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

func newJob(arm *Arm, c *sets.Case) (job, error) {
	if err := arm.Check(c); err != nil {
		return job{}, err
	}
	body, err := arm.body(c)
	if err != nil {
		return job{}, err
	}
	// The way the answer is read is part of the request's identity.
	text, err := json.Marshal([]any{arm.Mode, body})
	if err != nil {
		return job{}, fmt.Errorf("arms: %s: %w", arm.Name, err)
	}
	return job{arm, c, body, fmt.Sprintf("%x", sha256.Sum256(text))[:16]}, nil
}

// models asks each server for its first model, unless the arm sets one.
func (cfg *Config) models(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	for i := range cfg.Arms {
		a := &cfg.Arms[i]
		if raw, ok := a.Body["model"]; ok {
			var name string
			if err := json.Unmarshal(raw, &name); err != nil {
				return nil, fmt.Errorf("arms: %s: model: %w", a.Name, err)
			}
			out[a.Name] = name
			continue
		}
		raw, status, err := cfg.send(ctx, http.MethodGet, a.URL+"/v1/models", nil)
		if err != nil {
			return nil, fmt.Errorf("arms: %s: %w", a.Name, err)
		}
		var list struct {
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		if err := json.Unmarshal(raw, &list); err != nil || status != http.StatusOK || len(list.Data) == 0 || list.Data[0].ID == "" {
			return nil, fmt.Errorf("arms: %s: %s/v1/models answers with status %d and names no model; give one with \"model\"", a.Name, a.URL, status)
		}
		out[a.Name] = list.Data[0].ID
	}
	return out, nil
}

// one runs a case in an arm. An error ends the whole run.
func (cfg *Config) one(ctx context.Context, j job, model string) (*Result, error) {
	out := &Result{Set: j.c.Set, ID: j.c.ID, Arm: j.arm.Name, Model: model, Request: j.request}
	body := map[string]any{"model": model}
	for name, v := range j.body {
		body[name] = v
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	raw, status, took, err := cfg.patiently(ctx, j.arm.URL+"/v1/chat/completions", text)
	out.Seconds = took.Seconds()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		out.Failure, out.Error = "timeout", fmt.Sprintf("no answer within %s", cfg.Timeout)
	case err != nil:
		return nil, fmt.Errorf("arms: %s: %w", j.arm.Name, err)
	default:
		out.take(raw, status)
	}
	out.judge(j.arm, j.c)
	return out, nil
}

// take reads the response of the server.
func (r *Result) take(raw []byte, status int) {
	var a reply
	err := json.Unmarshal(raw, &a)
	if status != http.StatusOK {
		r.Failure, r.Error = strconv.Itoa(status), a.errorText()
		if err != nil {
			r.Error = fmt.Sprintf("%.200s", raw)
		}
		return
	}
	if err == nil {
		r.message, r.Finish, err = a.message()
	}
	if err != nil {
		r.Failure, r.Error = "protocol", err.Error()
		return
	}
	r.Prompt, r.Completion = a.Usage.Prompt, a.Usage.Completion
	if a.Constraint != nil {
		r.Forced = a.Constraint.Forced
	}
}

// judge scores the answer; a failed request scores as no answer.
func (r *Result) judge(a *Arm, c *sets.Case) {
	answer := sets.Answer{}
	if r.Failure == "" {
		answer = read(a, c, r.message)
	}
	if r.Score = c.Judge(answer); r.Failure != "" && len(c.Tools) > 0 {
		r.Cause = sets.Unanswered
	}
	r.calling = len(c.Tools) > 0
}

// Attempts at a server that is loading or overloaded, and the pause between them.
const maxTries = 10

var tryAgain = time.Second // shorter in tests

// patiently sends a request, and repeats it while the server is loading or
// overloaded. took is the time of the last attempt.
func (cfg *Config) patiently(ctx context.Context, address string, body []byte) (raw []byte, status int, took time.Duration, err error) {
	for try := 1; ; try++ {
		began := time.Now()
		raw, status, err = cfg.send(ctx, http.MethodPost, address, body)
		took = time.Since(began)
		busy := status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests
		if err != nil || !busy || try == maxTries {
			return raw, status, took, err
		}
		select {
		case <-ctx.Done():
			return nil, 0, took, ctx.Err()
		case <-time.After(tryAgain):
		}
	}
}

// maxReply is the maximum size of a response in bytes.
const maxReply = 32 << 20

func (cfg *Config) send(ctx context.Context, method, address string, body []byte) ([]byte, int, error) {
	ctx, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
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
