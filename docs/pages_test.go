// Package docs tests the documentation: that all code blocks run, that links have targets, that the index lists every
// page, and that the pages generated from the code are up to date.
//
// A block is marked by an HTML comment in the line before it, or before the blank line that precedes it:
//
//	<!-- norun: why -->     not run, but parsed if possible
//	<!-- file: NAME -->     written to a file, for the following blocks of the page
//	<!-- output -->         the output of the last sh block; … stands for any text, and members may be omitted
//	<!-- error -->          an sh block that fails, or whose answer is an error
//	<!-- python: LOCK -->   a Python program with the packages of a lock file in server/clients/python: "clients", run
//	                        in every test run, or one of those in libraries, run by make docstest
//	<!-- node -->           a Node.js program with the packages in server/clients/js
package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A block is a fenced code block.
type block struct {
	page string // path relative to the root
	line int    // of its first line of text
	lang string
	text string
	mark string // norun, file, output, error, python, node, or nothing
	what string // the text after the colon of the mark
}

func (b block) place() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// A page is a Markdown file.
type page struct {
	path   string // relative to the root, with slashes
	text   string
	blocks []block
}

// root is the folder of the module.
const root = ".."

// elsewhere are folders whose Markdown is not documentation.
var elsewhere = []string{"node_modules", "testdata", ".llama.cpp", ".git", "build", "bin", "lib"}

// pages reads every Markdown file of the repository.
func pages(t *testing.T) (out []page) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(elsewhere, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		p := page{path: filepath.ToSlash(rel), text: string(text)}
		p.blocks, err = blocksOf(p.path, p.text)
		out = append(out, p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// reports are pages about the code and its measurements, with commands that take hours or ran elsewhere.
var reports = []string{"ARCHITECTURE.md", "CONTRIBUTING.md", "bench/RESULTS.md", "models/README.md", "docs/developing.md"}

// guides returns the pages that users follow.
func guides(t *testing.T) []page {
	return slices.DeleteFunc(pages(t), func(p page) bool { return slices.Contains(reports, p.path) })
}

var (
	fence = regexp.MustCompile("^( *)(```+)([a-z]*)")
	mark  = regexp.MustCompile(`^\s*<!-- (norun|file|output|error|python|node)(?:: *(.*?))? -->$`)
)

// blocksOf returns the fenced blocks of a text.
func blocksOf(path, text string) (out []block, err error) {
	var b *block
	var indent, end string
	kind, what := "", ""
	for i, line := range strings.Split(text, "\n") {
		if b != nil {
			if strings.TrimSpace(line) == end {
				out = append(out, *b)
				b = nil
				continue
			}
			b.text += strings.TrimPrefix(line, indent) + "\n"
			continue
		}
		if m := fence.FindStringSubmatch(line); m != nil {
			indent, end = m[1], m[2]
			b = &block{page: path, line: i + 2, lang: m[3], mark: kind, what: what}
			kind, what = "", ""
			continue
		}
		if m := mark.FindStringSubmatch(line); m != nil {
			kind, what = m[1], m[2]
		} else if strings.TrimSpace(line) != "" {
			if kind != "" {
				return nil, fmt.Errorf("%s:%d: a mark that no block follows", path, i)
			}
		}
	}
	if b != nil {
		return nil, fmt.Errorf("%s: a block does not end", b.place())
	}
	return out, nil
}

// TestFilesNamed checks that the paragraph before a block that is written to a file contains the name of the file, since
// readers don't see the mark.
func TestFilesNamed(t *testing.T) {
	file := regexp.MustCompile(`(?m)^<!-- file: (\S+) -->`)
	found := 0
	for _, p := range pages(t) {
		for _, m := range file.FindAllStringSubmatchIndex(p.text, -1) {
			found++
			parts := strings.Split(strings.TrimSpace(p.text[:m[0]]), "\n\n")
			if before, name := parts[len(parts)-1], p.text[m[2]:m[3]]; strings.HasPrefix(before, "<!--") || !strings.Contains(before, "`"+name+"`") {
				t.Errorf("%s: the words before the block don't name `%s`", p.path, name)
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d files were found", found)
	}
}

// TestMarks checks that blocks and their marks are found in pages.
func TestMarks(t *testing.T) {
	got, err := blocksOf("p", "a\n\n<!-- file: x.json -->\n\n```json\n{}\n```\n\n  ```sh\n  ls\n    -l\n  ```\n")
	want := []block{{"p", 6, "json", "{}\n", "file", "x.json"}, {"p", 10, "sh", "ls\n  -l\n", "", ""}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, bad := range []string{"```sh\nls\n", "<!-- output -->\ntext\n```sh\n```\n"} {
		if _, err := blocksOf("p", bad); err == nil {
			t.Errorf("%q has no error", bad)
		}
	}
}
