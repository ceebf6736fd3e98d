package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What users look for by its name is named on the front page, beside a link to a page that has the name too.
func TestNamesInReadme(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(readme), "## What to look for")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, name := range []string{"strict", "prompt_schema", "deterministic", "timeout", "TypeScript", "Pydantic", "Go types", "built-in grammars", "CSV", "XML", "GBNF", "STENCIL_", "stencil.yaml", "repair", "limits"} {
		found := false
		for line := range strings.Lines(table) {
			if !strings.Contains(line, name) {
				continue
			}
			for _, link := range regexp.MustCompile(`\]\(([^)#]+)`).FindAllStringSubmatch(line, -1) {
				page, err := os.ReadFile(filepath.Join("..", link[1]))
				if err != nil {
					t.Fatal(err)
				}
				found = found || strings.Contains(strings.ToLower(string(page)), strings.ToLower(strings.TrimSuffix(name, " types")))
			}
		}
		if !found {
			t.Errorf("README.md names no page about %s", name)
		}
	}
}

// What is known of providers has a row each: where it is, what it constrains, how it is asked.
func TestProviders(t *testing.T) {
	page, err := os.ReadFile("upstreams.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"OpenAI", "Anthropic", "Gemini", "Groq", "OpenRouter", "vLLM", "SGLang", "llama-server", "Ollama", "LM Studio"} {
		row := regexp.MustCompile(`(?m)^\| ` + name + ` \| .*https?://.*\|$`).FindString(string(page))
		if strings.Count(row, "|") != 6 || !regexp.MustCompile("`(native|structured|instructed)`|what the probe finds").MatchString(row) {
			t.Errorf("%s: %q", name, row)
		}
	}
}
