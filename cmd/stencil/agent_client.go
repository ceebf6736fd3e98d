package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stencil-json/stencil/agent"
	"github.com/stencil-json/stencil/backend/remote"
)

// An agentReply is a server's report of a run that has ended or is paused.
type agentReply struct {
	ID    string `json:"id"`
	Model string `json:"model"`
	agent.Outcome
	Timings struct {
		Run float64 `json:"run_ms"`
	} `json:"timings"`
	Assessment *struct {
		Confidence     float64 `json:"confidence"`
		Recommendation string  `json:"recommendation"`
		Reason         string  `json:"reason"`
	} `json:"assessment"`
	Warnings []string `json:"warnings"`

	raw json.RawMessage
}

// registerClient defines the flags that name a running server.
func registerClient(flags *pflag.FlagSet, url, key, model *string) {
	flags.StringVar(url, "server", "", "URL of a running stencil server, such as http://127.0.0.1:8080")
	flags.StringVar(key, "server-key", "", "API key for --server")
	flags.StringVar(model, "server-model", "", "name of the model at --server (default: the first)")
	group(flags, "Running server")
}

// An agentClient starts and resumes runs at a server.
type agentClient struct {
	url, key string
}

// run sends a request and passes the events of its stream to tell until the run ends
// or is paused.
func (c *agentClient) run(ctx context.Context, body map[string]any, tell func(agent.Event)) (*agentReply, error) {
	body["stream"] = true
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(c.url, "/")+"/agent/run", bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	defer context.AfterFunc(ctx, func() { _ = resp.Body.Close() })() // that of status 101 doesn't end with it
	if resp.StatusCode != http.StatusOK {
		text, err := io.ReadAll(io.LimitReader(resp.Body, maxFailure))
		return nil, errors.Join(serverError(text, resp.Status), err)
	}
	for events := remote.NewEvents(resp.Body); ; {
		data, err := events.Next()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, fmt.Errorf("the server's stream: %w", err)
		}
		var one struct {
			agent.Event
			Status agent.Status    `json:"status"`
			Error  json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(data, &one); err != nil {
			return nil, fmt.Errorf("the server's stream: %w", err)
		}
		switch {
		case one.Type != "" && one.Frame != nil:
			tell(one.Event)
		case one.Error != nil:
			return nil, serverError(data, "error")
		default:
			reply := &agentReply{raw: data}
			if err := json.Unmarshal(data, reply); err != nil {
				return nil, fmt.Errorf("the server's stream: %w", err)
			}
			return reply, nil
		}
	}
}

// maxFailure is the maximum number of bytes read of an error response.
const maxFailure = 1 << 20

// serverError returns the error message of a response.
func serverError(body []byte, otherwise string) error {
	var e struct {
		Error struct {
			Message string
			Param   *string
		}
	}
	if json.Unmarshal(body, &e) != nil || e.Error.Message == "" {
		return fmt.Errorf("the server: %s", cmp.Or(otherwise, "unknown error"))
	}
	return fmt.Errorf("the server: %s", e.Error.Message)
}
