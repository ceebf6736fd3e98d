package stencil

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// clockExceptions are the functions in test files that may sleep or compare times, with
// reasons. In other tests, the result would depend on the load of the machine.
var clockExceptions = map[string]string{
	"internal/poll/poll.go Until":                          "the pause between two looks",
	"vocab/pretokenize_test.go TestPreTokenizersAreLinear": "linear or quadratic is the question: 0.02 s or 10, for a limit of 2, each; sizes that go test's own limit would catch take minutes",
	"server/load_test.go one":                              "a client that was refused waits before it asks again",
	"server/malformed_test.go TestBombs":                   "how long a hostile request takes is the question: milliseconds, for a limit of 10 s",
	"server/upstream_stream_test.go TestFailureLog":        "whether a time in an answer is of this minute",
	"server/storm_test.go TestStorm":                       "goes on for as long as it is told to",
	"server/storm_test.go watchMemory":                     "ends a test that takes the machine's memory",
	"server/storm_test.go heldNow":                         "what is left needs a moment to be collected",
	"bench/random_test.go watch":                           "names the random schema that a case does not end with, which go test's own limit would not",
}

func TestNoClocks(t *testing.T) {
	m := sources(t)
	used := map[string]bool{}
	for _, s := range m.all {
		if !s.test && s.dir != "internal/poll" {
			continue
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil || strings.HasPrefix(f.Name.Name, "Benchmark") {
				continue
			}
			for _, n := range clocks(f) {
				name := s.path + " " + f.Name.Name
				if clockExceptions[name] == "" {
					t.Errorf("%s: a test sleeps or compares times outside of testing/synctest", m.set.Position(n.Pos()))
				}
				used[name] = true
			}
		}
	}
	for name := range clockExceptions {
		if !used[name] {
			t.Errorf("%s is excepted and needs no exception", name)
		}
	}
}

// clocks returns the nodes of a function, outside of calls of synctest.Test, that sleep, set a
// time limit with time.After or with a panic in time.AfterFunc, or compare clock readings:
// values of time.Now, Since or Until, or variables that hold one.
func clocks(f *ast.FuncDecl) (out []ast.Node) {
	told := map[string]bool{} // variables that hold a clock reading
	var says func(ast.Expr) bool
	says = func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.Ident:
			return told[e.Name]
		case *ast.ParenExpr:
			return says(e.X)
		case *ast.UnaryExpr:
			return says(e.X)
		case *ast.BinaryExpr:
			return says(e.X) || says(e.Y)
		case *ast.CallExpr:
			switch f := e.Fun.(type) {
			case *ast.Ident:
				return (f.Name == "min" || f.Name == "max") && slices.ContainsFunc(e.Args, says)
			case *ast.SelectorExpr: // or a method: of a time, or Sub and Compare with a time as argument
				of, _ := f.X.(*ast.Ident)
				if of != nil && of.Name == "time" {
					return isTime(f, "Now", "Since", "Until") || isTime(f, "Duration") && slices.ContainsFunc(e.Args, says)
				}
				return says(f.X) || slices.Contains(comparing, f.Sel.Name) && slices.ContainsFunc(e.Args, says)
			}
		}
		return false
	}
	for known := -1; known != len(told); {
		known = len(told)
		ast.Inspect(f.Body, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok {
				return true
			}
			for i, left := range a.Lhs {
				right := a.Rhs[min(i, len(a.Rhs)-1)]
				if name, ok := left.(*ast.Ident); ok && name.Name != "_" && says(right) {
					told[name.Name] = true
				}
			}
			return true
		})
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			switch n.Op {
			case token.LSS, token.GTR, token.LEQ, token.GEQ, token.EQL, token.NEQ:
				if says(n) {
					out = append(out, n)
					return false
				}
			}
		case *ast.CallExpr:
			s, ok := n.Fun.(*ast.SelectorExpr)
			if !ok {
				break
			}
			if p, ok := s.X.(*ast.Ident); ok && p.Name == "synctest" && s.Sel.Name == "Test" {
				return false
			}
			panics := false // a panic serves as a time limit
			if isTime(s, "AfterFunc") {
				ast.Inspect(n.Args[1], func(n ast.Node) bool {
					id, ok := n.(*ast.Ident)
					panics = panics || ok && id.Name == "panic"
					return true
				})
			}
			if isTime(s, "Sleep", "After") || panics || s.Sel.Name != "Sub" && slices.Contains(comparing, s.Sel.Name) && says(n) {
				out = append(out, n)
			}
		}
		return true
	})
	return out
}

// comparing are the methods that relate one time to another.
var comparing = []string{"Before", "After", "Compare", "Sub"}

// isTime reports whether an expression is one of the named functions of package time.
func isTime(e *ast.SelectorExpr, names ...string) bool {
	p, ok := e.X.(*ast.Ident)
	return ok && p.Name == "time" && slices.Contains(names, e.Sel.Name)
}

// TestClocks tests the checker itself.
func TestClocks(t *testing.T) {
	for body, want := range map[string]int{
		`time.Sleep(5)`: 1,
		`begin := time.Now(); f(); if took := time.Since(begin); took > 5 { t.Error() }`: 1,
		`if time.Since(begin) > 5 || x { t.Error() }`:                                    1,
		`best = min(best, time.Since(begin)); if best > 5 { t.Error() }`:                 1,
		`end := time.Now().Add(5); for time.Now().Before(end) { f() }`:                   1,
		`end := time.Now().Add(5); for c.After(end) { f() }`:                             1,
		`a := time.Now(); f(); if time.Now().Sub(a) > 5 { t.Error() }`:                   1,
		`select { case <-c: case <-time.After(5): t.Error() }`:                           1,
		`begin := time.Now(); f(); t.Logf("%v", time.Since(begin))`:                      0,
		`set(time.Now().Add(5)); if x > 5 { t.Error() }`:                                 0,
		`begin := time.Now(); if s.begin > 5 { t.Error(begin) }`:                         0,
		`begin := time.Now(); set(begin); if err != nil { t.Error() }`:                   0,
		`timer := time.AfterFunc(5, func() { panic("late") }); timer.Stop()`:             1,
		`time.AfterFunc(5, cancel)`:                                                      0,
		`when := time.Now(); err := os.Chtimes(p, when, when); if err != nil { f() }`:    0,
		`synctest.Test(t, func(t *testing.T) { time.Sleep(5) })`:                         0,
		`synctest.Test(t, func(t *testing.T) { f() }); time.Sleep(5)`:                    1,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p; func f() {"+strings.ReplaceAll(body, "; ", "\n")+"}", 0)
		if err != nil {
			t.Fatal(body, err)
		}
		if got := clocks(f.Decls[0].(*ast.FuncDecl)); len(got) != want {
			t.Errorf("%s: %d places, want %d", body, len(got), want)
		}
	}
}
