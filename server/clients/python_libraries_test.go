package clients

import (
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/packages"
	"github.com/stencil-json/stencil/server"
	"github.com/stencil-json/stencil/vocab"
)

// librariesByGroup lists the scripts in python/libraries by the lock file of their requirements: the libraries don't
// agree on versions of shared dependencies.
var librariesByGroup = map[string][]string{
	"openai": {
		"agno", "autogen", "guidance", "haystack", "langchain", "langgraph", "magentic", "openai_agents", "outlines", "pydantic_ai",
		"smolagents",
	},
	"litellm":         {"dspy", "google_adk", "instructor", "litellm", "llama_index", "mirascope"},
	"crewai":          {"crewai"},
	"llama-cpp":       {"llama_cpp"},
	"semantic-kernel": {"semantic_kernel"},
}

// askForLibraries is the environment variable that enables TestPythonLibraries. Its value is 1, or names of scripts
// separated by commas.
const askForLibraries = "STENCIL_PYTHON_LIBRARIES"

// TestPythonLibraries runs scripts that use Python frameworks against the server. They install 2.6 GB and take minutes,
// so they run only on request.
func TestPythonLibraries(t *testing.T) {
	asked := os.Getenv(askForLibraries)
	if asked == "" {
		t.Skip("the Python libraries are tried by make clients-python")
	}
	servers := []string{"STENCIL_OBEDIENT=" + startObedient(t), "STENCIL_RANDOM=" + start(t, ""), "STENCIL_VECTORS=" + startEmbedding(t)}
	var groups []string
	for group := range librariesByGroup {
		groups = append(groups, group)
	}
	slices.Sort(groups)
	for _, group := range groups {
		for _, name := range librariesByGroup[group] {
			t.Run(name, func(t *testing.T) {
				if asked != "1" && !slices.Contains(strings.Split(asked, ","), name) {
					t.Skip("the Python libraries are tried by make clients-python")
				}
				program, err := packages.Python(t, "python/libraries/"+group+".txt")
				if err != nil {
					t.Fatal(err)
				}
				cmd := exec.CommandContext(t.Context(), program, "python/libraries/try_"+name+".py")
				cmd.Env = append(os.Environ(), servers...)
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Errorf("%v\n%s", err, out)
				} else {
					t.Logf("%s", out)
				}
			})
		}
	}
}

// TestPythonLibrariesListed checks that every script belongs to a group, and every group has a lock file.
func TestPythonLibrariesListed(t *testing.T) {
	var want []string
	for group, names := range librariesByGroup {
		for _, ending := range []string{".in", ".txt"} {
			if _, err := os.Stat("python/libraries/" + group + ending); err != nil {
				t.Error(err)
			}
		}
		for _, name := range names {
			want = append(want, "python/libraries/try_"+name+".py")
		}
	}
	slices.Sort(want)
	got, err := filepath.Glob("python/libraries/try_*.py")
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\nthere are %q,\nrun are   %q", err, got, want)
	}
}

// startObedient serves a model that writes what the prompt tells it; see [obey].
func startObedient(t testing.TB) string {
	t.Helper()
	v, err := tiny()
	if err != nil {
		t.Fatal(err)
	}
	template, err := os.ReadFile("../../chat/testdata/qwen25.jinja")
	if err != nil {
		t.Fatal(err)
	}
	v = withTemplate(t, v, string(template))
	const context = 1 << 18 // the prompts of agents are long in a small vocabulary
	var config engine.Config
	config.Context.Size = context
	e, err := engine.New(scripted.New(v, obey(v), scripted.Options{ContextLength: context}), config)
	if err != nil {
		t.Fatal(err)
	}
	s := server.New(server.Config{Log: slog.New(slog.DiscardHandler), Version: "0.0.1"})
	if err := s.SetModel("tiny", e); err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		h.Close()
		e.Close()
	})
	return h.URL
}

var told = regexp.MustCompile(`(?s)<<(.*?)>>(?:[^>]|$)`)

// obey returns a model that writes the texts between << and >> in the conversation: the first in its first turn and so
// on, then the last one again. Without such texts it writes "hello wörld".
func obey(v *vocab.Vocab) scripted.Func {
	begin, _ := v.Find("<|im_start|>")
	return func(history []int32, logits []float32) {
		at, turns := 0, 0
		for i, id := range history {
			if id != begin {
				continue
			}
			at = i
			if strings.HasPrefix(string(v.Decode(history[i+1:min(i+20, len(history))])), "assistant") {
				turns++
			}
		}
		before, turn := string(v.Decode(history[:at])), string(v.Decode(history[at:]))
		if turns == 0 { // a plain prompt, which is continued
			end := strings.LastIndex(turn, ">>") + len(">>")
			before, turn = turn[:max(end, 0)], turn[max(end, 0):]
		}
		reply := "hello wörld"
		if texts := told.FindAllStringSubmatch(before, -1); len(texts) > 0 {
			reply = texts[min(max(turns-1, 0), len(texts)-1)][1]
		}
		n := len(reply)
		for n > 0 && !strings.HasSuffix(turn, reply[:n]) {
			n--
		}
		if n == len(reply) {
			logits[v.EOG()[0]] = scripted.Strong
			return
		}
		for id := range logits {
			if b := v.Bytes(int32(id)); len(b) > 0 && strings.HasPrefix(reply[n:], string(b)) {
				logits[id] = scripted.Strong + float32(len(b))
			}
		}
	}
}
