package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A measurement is the measurement of one request.
type measurement struct {
	prompt, generated int           // tokens
	first, last       time.Duration // time to the first and to the last token
}

func (m measurement) read() float64 { return float64(m.prompt) / m.first.Seconds() }

// write returns the speed of the tokens after the first one, in tokens per second.
func (m measurement) write() float64 {
	if m.last <= m.first {
		return 0
	}
	return float64(m.generated-1) / (m.last - m.first).Seconds()
}

// A contender runs a model.
type contender interface {
	name() string
	run(ctx context.Context, prompt string, generate int) (measurement, error)
	close()
}

// A server is a contender that is used over HTTP.
type server struct {
	title string
	url   string
	model string
	cmd   *exec.Cmd
	stop  context.CancelFunc
	log   bytes.Buffer
	ended chan struct{} // closed when the process has ended
}

func (s *server) name() string { return s.title }

func (s *server) close() {
	s.stop()
	<-s.ended
}

func startStencil(ctx context.Context, c settings, model string, threads int) (contender, error) {
	return startServer(ctx, "stencil", func(port string) []string {
		return []string{c.stencil, "serve", "--model", model, "--port", port, "--threads", strconv.Itoa(threads), "--context", strconv.Itoa(c.context), "--log-level", "warn"}
	})
}

func startLlama(ctx context.Context, c settings, model string, threads int) (contender, error) {
	slots := 1
	if c.together {
		slots = 4
	}
	return startServer(ctx, "llama-server", func(port string) []string {
		return []string{c.llama, "--model", model, "--port", port, "--threads", strconv.Itoa(threads), "--ctx-size", strconv.Itoa(c.context * slots), "--parallel", strconv.Itoa(slots), "--jinja"}
	})
}

// startServer starts a server on a free port and waits until it answers.
func startServer(ctx context.Context, title string, command func(port string) []string) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(address)
	ctx, stop := context.WithCancel(ctx)
	args := command(port)
	s := &server{title: title, url: "http://" + address, stop: stop, ended: make(chan struct{})}
	s.cmd = exec.CommandContext(ctx, args[0], args[1:]...)
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(os.Interrupt) }
	s.cmd.WaitDelay = 10 * time.Second
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := s.cmd.Start(); err != nil {
		stop()
		return nil, err
	}
	go func() {
		_ = s.cmd.Wait() // the reason is in the log
		close(s.ended)
	}()
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		select {
		case <-s.ended:
			stop()
			return nil, fmt.Errorf("%s ended: %s", title, s.log.String())
		default:
		}
		if s.model, err = s.firstModel(ctx); err == nil {
			return s, nil
		}
		if time.Since(begun) > 2*time.Minute {
			s.close()
			return nil, fmt.Errorf("%s does not answer: %w", title, err)
		}
	}
}

func (s *server) firstModel(ctx context.Context) (string, error) {
	// llama-server lists its model before it is loaded.
	for _, path := range []string{"/health", "/v1/models"} {
		if s.title == "stencil" && path == "/health" {
			path = "/readyz"
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
		if err != nil {
			return "", err
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return "", err
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != http.StatusOK {
			return "", fmt.Errorf("%s: %s: %w", path, res.Status, err)
		}
		var list struct {
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		if json.Unmarshal(body, &list) == nil && len(list.Data) > 0 {
			return list.Data[0].ID, nil
		}
	}
	return "", errors.New("it lists no model")
}

// run requests a continuation of a raw prompt.
func (s *server) run(ctx context.Context, prompt string, generate int) (measurement, error) {
	return s.post(ctx, "/v1/completions", map[string]any{
		"prompt": prompt, "max_tokens": generate, "temperature": 0,
	})
}

// post sends a request with a streamed answer, and measures it.
func (s *server) post(ctx context.Context, path string, body map[string]any) (measurement, error) {
	body["model"], body["stream"], body["stream_options"] = s.model, true, map[string]any{"include_usage": true}
	text, err := json.Marshal(body)
	if err != nil {
		return measurement{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, bytes.NewReader(text))
	if err != nil {
		return measurement{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	begun := time.Now()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return measurement{}, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(res.Body)
		return measurement{}, fmt.Errorf("%s: %s", res.Status, said)
	}
	var m measurement
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var event struct {
			Choices []struct {
				Text  string `json:"text"`
				Delta struct {
					Content string `json:"content"`
				} `json:"delta"`
			} `json:"choices"`
			Usage *struct {
				Prompt     int `json:"prompt_tokens"`
				Completion int `json:"completion_tokens"`
			} `json:"usage"`
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			return measurement{}, fmt.Errorf("event %q: %w", data, err)
		}
		for _, c := range event.Choices {
			if c.Text == "" && c.Delta.Content == "" {
				continue
			}
			m.last = time.Since(begun)
			if m.first == 0 {
				m.first = m.last
			}
		}
		if event.Usage != nil {
			m.prompt, m.generated = event.Usage.Prompt, event.Usage.Completion
		}
	}
	if err := lines.Err(); err != nil {
		return measurement{}, err
	}
	if m.first == 0 || m.prompt == 0 {
		return measurement{}, errors.New("the stream had no text or no usage")
	}
	return m, nil
}

//go:embed node.mjs
var nodeScript []byte

// A nodeLoop is a node-llama-cpp process that reads requests as lines.
type nodeLoop struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	script string
}

func startNode(ctx context.Context, c settings, model string, threads int) (contender, error) {
	model, err := filepath.Abs(model)
	if err != nil {
		return nil, err
	}
	script := filepath.Join(c.node, ".stencil-bench.mjs") // in the folder where node finds the package
	if err := os.WriteFile(script, nodeScript, 0o644); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "node", filepath.Base(script), model, strconv.Itoa(threads), strconv.Itoa(c.context))
	cmd.Dir, cmd.Stderr = c.node, os.Stderr
	n := &nodeLoop{cmd: cmd, script: script}
	if n.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	n.out = bufio.NewScanner(out)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if !n.out.Scan() {
		return nil, errors.New("node-llama-cpp did not start")
	}
	return n, nil
}

func (n *nodeLoop) name() string { return "node-llama-cpp" }

func (n *nodeLoop) run(_ context.Context, prompt string, generate int) (measurement, error) {
	request, err := json.Marshal(map[string]any{"prompt": prompt, "generate": generate})
	if err != nil {
		return measurement{}, err
	}
	if _, err := fmt.Fprintf(n.in, "%s\n", request); err != nil {
		return measurement{}, err
	}
	if !n.out.Scan() {
		return measurement{}, errors.New("node-llama-cpp ended")
	}
	var got struct {
		Prompt, Generated int
		First, Last       float64 // milliseconds
	}
	if err := json.Unmarshal(n.out.Bytes(), &got); err != nil {
		return measurement{}, fmt.Errorf("%q: %w", n.out.Text(), err)
	}
	ms := func(x float64) time.Duration { return time.Duration(x * float64(time.Millisecond)) }
	return measurement{got.Prompt, got.Generated, ms(got.First), ms(got.Last)}, nil
}

func (n *nodeLoop) close() {
	n.in.Close()
	_ = n.cmd.Wait() // it ends when its input is closed
	os.Remove(n.script)
}
