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

	"stencil/agent"
	"stencil/backend/remote"
)

// An agentReply is what a server says has become of a run.
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

// An agentClient asks a server for runs.
type agentClient struct {
	url, key string
}

// run sends a request and passes on the events of its stream until the run has
// ended or waits for its user.
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

// maxFailure bounds what is read of an answer that is an error.
const maxFailure = 1 << 20

// serverError is an error of the server in its own words.
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
