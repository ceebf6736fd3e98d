package server

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
)

// tokenizes lists the functions below server that tokenize without [chat.Prompts], which limits the texts of requests: what they tokenize
// is the server's, the model's, or bounded where they are.
var tokenizes = map[string]string{
	"generation/layout/recast.go: recast":     "what the model wrote",
	"generation/relevance.go: compare":        "words of the server",
	"generation/signals_plan.go: planSignals": "words of the server",
	"llamacpp/tokens.go: Tokenize":            "limited by maxTokenized",
	"llamacpp/tokens.go: marked":              "limited by maxTokenized",
}

// TestTextsAreLimited checks that nothing below server tokenizes texts of requests but by the methods of chat.Prompts.
func TestTextsAreLimited(t *testing.T) {
	called := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "clients") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok || !slices.Contains([]string{"Tokenize", "TokenizeText", "TokenizeContext", "TokenizeTextContext", "EncodeContext", "Encode"}, s.Sel.Name) {
					return true
				}
				if x, _ := s.X.(*ast.Ident); s.Sel.Name == "Encode" && x != nil && (x.Name == "e" || x.Name == "enc") {
					return true // of JSON
				}
				if x, _ := s.X.(*ast.Ident); x != nil && (x.Name == "lcpp" || x.Name == "s") {
					return true // a handler
				}
				called[filepath.ToSlash(path)+": "+f.Name.Name] = true
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for where := range called {
		if tokenizes[where] == "" {
			t.Errorf("%s tokenizes without chat.Prompts", where)
		}
	}
	for where := range tokenizes {
		if !called[where] {
			t.Errorf("%s doesn't tokenize any more", where)
		}
	}
}

// TestLongTexts checks that texts of many megabytes are refused or cut before they are tokenized, wherever a request has one, and what that
// allocates.
func TestLongTexts(t *testing.T) {
	_, url := start(t, setup{vocab: infillVocab(t), opt: scripted.Options{ContextLength: 256}, reply: "x"})
	long := strings.Repeat(" ", 6<<20)
	parts := `"a"` + strings.Repeat(`, "`+strings.Repeat("x", 300<<10)+`"`, 20)
	for name, c := range map[string]struct {
		path, body string
		status     int
	}{
		"prefix":        {"/infill", `{"input_prefix": "` + long + `", "input_suffix": "", "n_predict": 2}`, 200},
		"suffix":        {"/infill", `{"input_prefix": "", "input_suffix": "` + long + `", "n_predict": 2}`, 200},
		"begun":         {"/infill", `{"input_prefix": "", "input_suffix": "", "prompt": "` + long + `", "n_predict": 2}`, 400},
		"file":          {"/infill", `{"input_prefix": "a", "input_suffix": "b", "input_extra": [{"filename": "f", "text": "` + long + `"}], "n_predict": 2}`, 200},
		"name of file":  {"/infill", `{"input_prefix": "a", "input_suffix": "b", "input_extra": [{"filename": "` + long + `", "text": "x"}], "n_predict": 2}`, 200},
		"text":          {"/completion", `{"prompt": "` + long + `", "n_predict": 2}`, 400},
		"after a token": {"/completion", `{"prompt": [5, "` + long + `"], "n_predict": 2}`, 400},
		"many texts":    {"/completion", `{"prompt": [5, ` + parts + `], "n_predict": 2}`, 400},
		"bias":          {"/completion", `{"prompt": "x", "logit_bias": [["` + long + `", 1]], "n_predict": 2}`, 400},
		"message":       {"/v1/chat/completions", `{"messages": [{"role": "user", "content": "` + long + `"}], "max_tokens": 2}`, 400},
		"choice":        {"/decide", `{"text": "x", "question": "which?", "choices": ["a", "` + long + `"]}`, 400},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		status, _, got := post(t, url+c.path, c.body)
		runtime.ReadMemStats(&after)
		if status != c.status {
			t.Errorf("%s: %d %s", name, status, fmt.Sprint(got)[:min(300, len(fmt.Sprint(got)))])
		}
		if most := uint64(200 << 20); after.TotalAlloc-before.TotalAlloc > most { // tokens and candidates of 6 MB take 600
			t.Errorf("%s: %d MB allocated", name, (after.TotalAlloc-before.TotalAlloc)>>20)
		}
	}
}
