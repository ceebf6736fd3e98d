package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rivo/uniseg"

	"github.com/stencil-json/stencil/agent"
)

// A fakeAgent is a server that answers each request with the next of its streams,
// and records the requests.
type fakeAgent struct {
	mu      sync.Mutex
	streams []string
	asked   []map[string]any
	key     string
}

func (s *fakeAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body := map[string]any{}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != "/agent/run" {
		http.Error(w, "no", http.StatusNotFound)
		return
	}
	s.asked, s.key = append(s.asked, body), r.Header.Get("Authorization")
	stream := s.streams[0]
	s.streams = s.streams[1:]
	if strings.HasPrefix(stream, "{") {
		w.WriteHeader(http.StatusBadRequest)
	}
	io.WriteString(w, stream)
}

func (s *fakeAgent) last() map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[len(s.asked)-1]
}

// told returns an event as a server sends it.
func told(name, frame string) string {
	return fmt.Sprintf("event: %s\ndata: {\"type\":%q,\"frame\":%s}\n\n: ping\n\n", name, name, frame)
}

const (
	rootSplit = `{"id":1,"depth":1,"query":"the whole","status":"split","children":[2,3],"completion_tokens":50,"time_ms":1200,"confidence":0.5}`
	leftDone  = `{"id":2,"parent":1,"depth":2,"query":"the\nleft \u001b[31mpart","status":"done","confidence":0.75,"completion_tokens":20,"time_ms":300}`
	rightOff  = `{"id":3,"parent":1,"depth":2,"query":"the right part","status":"failed","bound":"tokens","error":"no","completion_tokens":0,"time_ms":0,"skipped":[{"query":"the left","priority":1,"reason":"repeated"}]}`
	rootDone  = `{"id":1,"depth":1,"query":"the whole","status":"done","bound":"tokens","children":[2,3],"completion_tokens":80,"time_ms":2000,"confidence":0.9}`
	allDone   = "event: done\ndata: {\"id\":\"run_1\",\"status\":\"done\",\"bound\":\"tokens\",\"answer\":{\"conclusion\":\"It is so.\",\"confidence\":0.9,\"files\":[\"a.go\"],\"next_action\":\"finalize\"}," +
		"\"frames\":[" + rootDone + "," + leftDone + "," + rightOff + "],\"totals\":{\"frames\":3,\"prompt_tokens\":1234,\"completion_tokens\":100,\"prose_tokens_saved\":-7},\"timings\":{\"run_ms\":2500}," +
		"\"assessment\":{\"confidence\":0.9,\"recommendation\":\"proceed\",\"reason\":\"why not\"},\"warnings\":[\"take care\"]}\n\n"
	waits = "event: paused\ndata: {\"id\":\"run_1\",\"status\":\"waiting\",\"questions\":[{\"frame\":2,\"question\":\"left\\nor right?\"},{\"frame\":3,\"question\":\"when?\"}],\"frames\":[" + rootSplit + "],\"totals\":{}}\n\n"
)

func TestAgentCommand(t *testing.T) {
	grown := told("frame", `{"id":1,"depth":1,"query":"the whole","status":"running"}`) + told("answer", rootSplit) + told("frame", leftDone) + told("finished", leftDone) + told("finished", rightOff) + told("finished", rootDone)
	s := &fakeAgent{streams: []string{grown + allDone}}
	h := httptest.NewServer(s)
	defer h.Close()
	out, errOut, err := run(t, "agent", "--server", h.URL, "--server-key", "k", "--server-model", "m", "--depth", "2", "--time", "90s", "--seed", "7", "--no-reasoning", "--no-tools", "--system", "Be brief.", "--parallel", "3", "the whole")
	if err != nil || out != "It is so.\n" {
		t.Fatalf("%q, %v", out, err)
	}
	want := map[string]any{
		"query": "the whole", "model": "m", "system": "Be brief.", "interactive": false, "reasoning": false, "tools": false, "stream": true, "seed": 7.0, "parallel": 3.0, "temperature": 0.8,
		"bounds": map[string]any{"depth": 2.0, "seconds": 90.0},
	}
	if got := s.last(); fmt.Sprint(got) != fmt.Sprint(want) || s.key != "Bearer k" {
		t.Errorf("asked %v, want %v", got, want)
	}
	if want := `the whole                                                        split               50 tok    1.2 s
  the left [31mpart                                              done       0.75     20 tok    0.3 s
  the right part                                                 no tokens            0 tok    0.0 s
files: a.go
incomplete: the limit on tokens was reached (marked *)
proceed: why not
3 frames, 1,234 tokens read and 100 written in 2.5 s; 7 more than prose
warning: take care
`; errOut != want {
		t.Errorf("told\n%s\nwant\n%s", errOut, want)
	}
	s.streams = []string{grown + allDone, allDone, "{\"error\":{\"message\":\"bounds.depth is too large\"}}", "event: error\ndata: {\"error\":{\"message\":\"it broke\"}}\n\n", grown}
	if out, errOut, err = run(t, "agent", "--server", h.URL, "--quiet", "--json", "-"); err != nil || errOut != "" || !strings.HasPrefix(out, "{\n  \"id\": \"run_1\"") || s.last()["query"] != "a prompt from standard input" {
		t.Errorf("%s %s %v", out, errOut, err)
	}
	t.Setenv("STENCIL_FRAMES", "9")
	if out, _, err = run(t, "agent", "--server", h.URL+"/", "-q", "x"); err != nil || out != "It is so.\n" || s.last()["bounds"].(map[string]any)["frames"] != 9.0 {
		t.Errorf("%s %v", out, err)
	}
	for _, want := range []string{"bounds.depth is too large", "it broke", "unexpected EOF"} {
		if out, _, err = run(t, "agent", "--server", h.URL, "x"); err == nil || !strings.Contains(err.Error(), want) || out != "" {
			t.Errorf("%q, %v, want %s", out, err, want)
		}
	}
}

// TestAgentCommandWaits checks that without a terminal, a run that asks a question
// is paused, and the command prints how to resume it.
func TestAgentCommandWaits(t *testing.T) {
	s := &fakeAgent{streams: []string{told("answer", rootSplit) + waits, waits, allDone, allDone}}
	h := httptest.NewServer(s)
	defer h.Close()
	_, errOut, err := run(t, "agent", "--server", h.URL, "--interactive", "x")
	var coded *exitError
	if !errors.As(err, &coded) || coded.code != exitWaiting || s.last()["interactive"] != true {
		t.Fatal(err)
	}
	for _, want := range []string{"frame 2 asks: left or right?", "frame 3 asks: when?", "resume with: stencil agent --server " + h.URL + ` --resume run_1 --answer "2=…" --answer "3=…"`} {
		if !strings.Contains(errOut, want) {
			t.Errorf("%s lacks %s", errOut, want)
		}
	}
	out, _, err := run(t, "agent", "--server", h.URL, "--interactive", "--json", "--quiet", "x")
	if !errors.As(err, &coded) || !strings.Contains(out, `"status": "waiting"`) {
		t.Errorf("%s %v", out, err)
	}
	if out, _, err = run(t, "agent", "--server", h.URL, "--resume", "run_1", "--answer", "3=at = noon", "--answer", "2=left"); err != nil || out != "It is so.\n" {
		t.Errorf("%s %v", out, err)
	}
	if got, want := fmt.Sprint(s.last()), "map[answers:[map[answer:at = noon frame:3] map[answer:left frame:2]] resume:run_1 stream:true]"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	if _, _, err = run(t, "agent", "--server", h.URL, "--resume", "run_1", "--answer", "a=b"); err != nil || s.last()["answer"] != "a=b" {
		t.Errorf("%v %v", s.last(), err)
	}
}

func TestAgentCommandRefuses(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "the query is missing"},
		{[]string{"--resume", "x", "--answer", "y"}, "needs --server"},
		{[]string{"--resume", "x"}, "missing [answer]"},
		{[]string{"--server", "http://127.0.0.1:1", "--resume", "x", "--answer", "a", "--answer", "b"}, "begin with the number of its frame"},
		{[]string{"--server", "http://127.0.0.1:1", "--resume", "x", "--answer", "y", "query"}, "takes no query"},
		{[]string{"--interactive", "query"}, "needs a terminal"},
		{[]string{"--interactive", "-"}, "cannot be combined"},
		{[]string{"--server", "http://127.0.0.1:1", "--folder", ".", "query"}, "--server and --folder exclude one another"},
		{[]string{"--server", "http://127.0.0.1:1", "query"}, "refused"},
		{[]string{"--folder", "/does/not/exist", "query"}, "no such file"},
		{[]string{"--prompts", "/does/not/exist", "query"}, "no such file"},
	} {
		if out, _, err := run(t, append([]string{"agent"}, c.args...)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %q, %v", c.args, out, err)
		}
	}
	out, _, err := run(t, "agent", "--print-prompts")
	if _, parseErr := agent.ParsePrompts(out); err != nil || parseErr != nil || out != agent.DefaultPromptText {
		t.Errorf("%v %v %s", err, parseErr, out)
	}
}

// TestAgentCommandUpstream checks that an upstream model is used through a local
// server, and can read a folder.
func TestAgentCommandUpstream(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "town.txt"), []byte("The mayor is Ann."), 0o600); err != nil {
		t.Fatal(err)
	}
	var prompts []string
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		prompts = append(prompts, string(text))
		if strings.Contains(string(text), "The mayor is") {
			fmt.Fprint(w, `{"choices": [{"message": {"content": "{\"conclusion\": \"Ann\", \"confidence\": 0.9, \"next_action\": \"finalize\"}"}, "finish_reason": "stop"}]}`)
			return
		}
		fmt.Fprint(w, `{"choices": [{"message": {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\": \"town.txt\"}"}}]}, "finish_reason": "tool_calls"}]}`)
	}))
	defer far.Close()
	texts := writeTemp(t, "prompts", `{{define "question"}}Tell me: {{.Query}}{{end}}`)
	out, errOut, err := run(t, "agent", "--upstream", far.URL+"/v1", "--upstream-model", "m", "--upstream-capabilities", "tools", "--folder", dir, "--prompts", texts, "who is mayor?")
	if err != nil || out != "Ann\n" || !strings.Contains(errOut, "1 frame,") {
		t.Errorf("%q %q %v", out, errOut, err)
	}
	if len(prompts) != 2 || !strings.Contains(prompts[0], "Tell me: who is mayor?") {
		t.Errorf("%q", prompts)
	}
}

// TestTree checks that on a terminal, the tree is redrawn in place, with lines no
// wider than the terminal and no more lines than it has.
func TestTree(t *testing.T) {
	var b strings.Builder
	now := time.Unix(100, 0)
	width, height := 60, 40
	tr := newTree(&b)
	tr.terminal, tr.now, tr.size = true, func() time.Time { return now }, func() (int, int) { return width, height }
	event := func(kind, frame string) {
		var e agent.Event
		if err := json.Unmarshal([]byte(fmt.Sprintf(`{"type":%q,"frame":%s}`, kind, frame)), &e); err != nil {
			t.Fatal(err)
		}
		b.Reset()
		tr.event(e)
	}
	event("frame", `{"id":1,"depth":1,"query":"the whole","status":"running"}`)
	now = now.Add(1500 * time.Millisecond)
	event("answer", rootSplit)
	event("finished", rightOff)
	event("frame", `{"id":2,"parent":1,"depth":2,"query":"the left part, which is longer than there is room for: 東京の学校","status":"running"}`)
	now = now.Add(time.Second)
	b.Reset()
	tr.draw(false)
	if want := "\x1b[4A\r\x1b[J" + `the whole               split               50 tok    1.2 s
├─ the left part, whi…  asked                0 tok    1.0 s
└─ the right part       no tokens            0 tok    0.0 s
   └─ the left                           left out: repeated
`; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	event("finished", leftDone)
	event("synthesis", `{"id":1,"depth":1,"query":"the whole","status":"running","children":[2,3],"time_ms":1000}`)
	if !strings.Contains(b.String(), "summing up") || !strings.Contains(b.String(), "├─ the left [31mpart") {
		t.Errorf("%q", b.String())
	}
	for width = 1; width < 90; width++ {
		for _, l := range tr.lines(width) {
			if uniseg.StringWidth(l) > width {
				t.Errorf("%q is wider than %d", l, width)
			}
		}
	}
	width, height = 60, 5
	event("finished", rootDone)
	if lines := strings.Count(b.String(), "\n"); lines != 3 || !strings.Contains(b.String(), "… 2 more\n") {
		t.Errorf("%d lines: %q", lines, b.String())
	}
	b.Reset()
	tr.finish()
	if !strings.HasPrefix(b.String(), "\x1b[3A\r\x1b[J") || strings.Count(b.String(), "\n") != 4 || !strings.Contains(b.String(), "done*      0.90") || tr.drawn != 0 {
		t.Errorf("%q", b.String())
	}
	// Cyclic frames from a faulty server must not cause endless recursion.
	event("finished", `{"id":5,"parent":9,"depth":3,"query":"x","status":"done"}`)
	event("finished", `{"id":9,"parent":5,"depth":3,"query":"y","status":"done"}`)
	if n := len(tr.lines(80)); n != 6 {
		t.Errorf("%d lines", n)
	}
}

func TestAsk(t *testing.T) {
	var b strings.Builder
	questions := []agent.Asked{{Frame: 2, Question: "which\x1b way?"}, {Frame: 4, Question: "when?"}}
	got, err := ask(t.Context(), newLines(strings.NewReader("\n  left \nnow")), questions, &b)
	if err != nil || fmt.Sprint(got) != "[{2 left} {4 now}]" || strings.Contains(b.String(), "\x1b") || strings.Count(b.String(), "> ") != 3 {
		t.Errorf("%v %v %q", got, err, b.String())
	}
	if _, err := ask(t.Context(), newLines(strings.NewReader("left\n")), questions, io.Discard); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// TestResultBytes checks that tool results leave room for an answer.
func TestResultBytes(t *testing.T) {
	for context, want := range map[int]int{512: 1024, 4096: 4096, 131072: 16384} {
		if got := resultBytes(context); got != want {
			t.Errorf("%d: %d", context, got)
		}
	}
	f := new(serveFlags)
	if f.contextTokens() != usualContext {
		t.Error(f.contextTokens())
	}
	f.upstream.config.URL = "x"
	if f.contextTokens() != 0 {
		t.Error(f.contextTokens())
	}
}
