package docs

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	link    = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.*?) *#*$`)
	code    = regexp.MustCompile("`[^`\n]*`")
)

// prose returns a page without code blocks and code spans.
func prose(p page) string {
	var b strings.Builder
	end := ""
	for line := range strings.Lines(p.text) {
		switch m := fence.FindStringSubmatch(line); {
		case end != "" && strings.TrimSpace(line) == end:
			end = ""
		case end != "":
		case m != nil:
			end = m[2]
		default:
			b.WriteString(line)
		}
	}
	return b.String()
}

// anchors returns the anchors of a page's headings, as GitHub generates them.
func anchors(p page) map[string]bool {
	out := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(prose(p), -1) {
		var b strings.Builder
		for _, r := range strings.ToLower(m[1]) {
			switch {
			case r == ' ':
				b.WriteByte('-')
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				b.WriteRune(r)
			}
		}
		out[b.String()] = true
	}
	return out
}

// TestLinks checks that links within the repository have existing targets.
func TestLinks(t *testing.T) {
	all := pages(t)
	byPath := map[string]page{}
	for _, p := range all {
		byPath[p.path] = p
	}
	n := 0
	for _, p := range all {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(prose(p), ""), -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
				continue
			}
			n++
			target := p.path
			if to != "" {
				target = path.Join(path.Dir(p.path), to)
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s: nothing at %s", p.path, m[1])
			} else if other, ok := byPath[target]; anchor != "" && (!ok || !anchors(other)[anchor]) {
				t.Errorf("%s: no heading at %s", p.path, m[1])
			}
		}
	}
	if n < 40 {
		t.Errorf("only %d links were found", n)
	}
}

// TestIndex checks that docs/README.md links every page below docs.
func TestIndex(t *testing.T) {
	index, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages(t) {
		if name, ok := strings.CutPrefix(p.path, "docs/"); ok && name != "README.md" && !strings.Contains(string(index), "]("+name+")") {
			t.Errorf("docs/README.md does not name %s", name)
		}
	}
}

// TestExamplesListed checks that the index lists every example, and that a test runs it.
func TestExamplesListed(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(root, "examples", "*", "README.md"))
	if err != nil || len(dirs) < 10 {
		t.Fatal(dirs, err)
	}
	var tests string
	for _, path := range []string{filepath.Join(root, "server", "clients", "examples_test.go"), "run_llama_test.go"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		tests += string(text)
	}
	index, err := os.ReadFile(filepath.Join(root, "examples", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range dirs {
		name := filepath.Base(filepath.Dir(path))
		if !strings.Contains(string(index), "]("+name+"/README.md)") {
			t.Errorf("examples/README.md does not name %s", name)
		}
		if !strings.Contains(tests, `"`+name+`"`) && !strings.Contains(tests, "examples/"+name) {
			t.Errorf("no test runs %s", name)
		}
	}
}

// foreign matches what makes a browser load something from another server.
var foreign = regexp.MustCompile(`<(?:link|script|img|iframe|source|video|audio|object|embed|use)\b[^>]*(?:src|href|data|srcset)="(?:https?:)?//|url\(["']?(?:https?:)?//|@import\s+["'](?:https?:)?//|(?:import|importScripts|fetch)\(["'](?:https?:)?//|\bfrom ?["']https?://`)

// TestSite checks that the site that make site builds has all pages and a local search, and loads nothing from other servers.
func TestSite(t *testing.T) {
	for text, want := range map[string]bool{
		`<link rel="stylesheet" href="https://fonts.example.com/a.css">`: true, `<script src="//cdn.example.com/a.js">`: true, `@font-face{src:url(https://x/a.woff2)}`: true,
		`<a href="https://example.com">`: false, `<link rel="icon" href="/a.png">`: false, `url(/assets/inter.woff2)`: false,
	} {
		if foreign.MatchString(text) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
	site := os.Getenv("SITE")
	if site == "" {
		t.Skip("the site is made and checked by make site")
	}
	for _, p := range pages(t) {
		if !strings.HasPrefix(p.path, "docs/") && !strings.HasPrefix(p.path, "examples/") {
			continue
		}
		file := strings.TrimSuffix(p.path, ".md") + ".html"
		if dir, ok := strings.CutSuffix(p.path, "README.md"); ok {
			file = dir + "index.html"
		}
		if _, err := os.Stat(filepath.Join(site, file)); err != nil {
			t.Error(err)
		}
	}
	files, index := 0, 0
	err := filepath.WalkDir(site, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch filepath.Ext(path) {
		case ".html", ".css", ".js":
			files++
			if bad := foreign.Find(text); bad != nil {
				t.Errorf("%s: %s", path, bad)
			}
		}
		if strings.Contains(path, "localSearchIndex") && strings.Contains(string(text), "receipt") {
			index++
		}
		return nil
	})
	if err != nil || files < 100 || index == 0 {
		t.Errorf("%d files, %d indexes for the search, %v", files, index, err)
	}
}
