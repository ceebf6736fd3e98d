package stencil

import (
	"go/ast"
	"strings"
	"testing"
)

// A size is the maximum size of a package: in a larger package, readers lose sight of its subject, and
// it probably has a second one that can be split off. Tests and generated files don't count.
type size struct {
	files   int
	lines   int
	methods int // per type
}

var (
	largest  = size{files: 30, lines: 6000, methods: 40}
	inServer = size{files: 20, lines: 3500, methods: 40} // for package server and the packages below it

	// oversize are the limits of packages that exceed the general ones. These numbers may only shrink.
	oversize = map[string]size{
		"schema": {30, 8000, 40},
	}
)

func TestSizes(t *testing.T) {
	m := sources(t)
	sizes := map[string]*size{}
	methods := map[string]map[string]map[string]bool{}
	for _, s := range m.all {
		if s.test || ast.IsGenerated(s.file) {
			continue
		}
		if sizes[s.dir] == nil {
			sizes[s.dir], methods[s.dir] = &size{}, map[string]map[string]bool{}
		}
		sizes[s.dir].files++
		sizes[s.dir].lines += m.set.File(s.file.Pos()).LineCount()
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil {
				continue
			}
			of := receiver(f).Name
			if methods[s.dir][of] == nil {
				methods[s.dir][of] = map[string]bool{}
			}
			methods[s.dir][of][f.Name.Name] = true // counted once, even if declared per build tag
		}
	}
	for dir, is := range sizes {
		most := largest
		if dir == "server" || strings.HasPrefix(dir, "server/") {
			most = inServer
		}
		if x, ok := oversize[dir]; ok {
			most = x
		}
		if is.files > most.files {
			t.Errorf("package %s has %d files, more than %d", dir, is.files, most.files)
		}
		if is.lines > most.lines {
			t.Errorf("package %s has %d lines, more than %d", dir, is.lines, most.lines)
		}
		for of, names := range methods[dir] {
			if len(names) > most.methods {
				t.Errorf("package %s: %s has %d methods, more than %d", dir, of, len(names), most.methods)
			}
		}
	}
	for dir := range oversize {
		if sizes[dir] == nil {
			t.Errorf("package %s of the exceptions does not exist", dir)
		}
	}
}
