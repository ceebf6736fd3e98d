package gbnf

import (
	"fmt"

	"github.com/stencil-json/stencil/meter"
)

// rootRule is the rule that describes the whole text.
const rootRule = "root"

// walk calls visit for e and everything below it.
func (e *expr) walk(visit func(*expr)) {
	visit(e)
	for _, s := range e.sub {
		s.walk(visit)
	}
}

// check checks the references between rules. The error is an *InvalidError that
// lists all problems.
func (f *file) check(work *meter.Meter) error {
	var issues []Issue
	if len(f.rules) == 0 {
		return &InvalidError{[]Issue{{Reason: "the grammar is empty: a rule named root is needed"}}}
	}
	if _, ok := f.index[rootRule]; !ok {
		issues = append(issues, Issue{Reason: "there is no rule named root"})
	}
	for _, r := range f.rules {
		r.body.walk(func(e *expr) {
			work.Step(1)
			if e.op != opRef || len(issues) >= maxIssues {
				return
			}
			if _, ok := f.index[e.text]; !ok {
				issues = append(issues, issueAt(f.source, int(e.pos), r.name, fmt.Sprintf("undefined rule %q", e.text)))
			}
		})
	}
	if len(issues) > 0 {
		return &InvalidError{issues}
	}
	return nil
}

// maxIssues bounds the number of listed problems of one kind.
const maxIssues = 100

// unused returns warnings about rules that root never refers to, directly or
// indirectly.
func (f *file) unused() (warnings []Issue) {
	seen := make([]bool, len(f.rules))
	list := []int32{f.index[rootRule]}
	seen[list[0]] = true
	for len(list) > 0 {
		r := f.rules[list[len(list)-1]]
		list = list[:len(list)-1]
		r.body.walk(func(e *expr) {
			if e.op == opRef {
				if to := f.index[e.text]; !seen[to] {
					seen[to] = true
					list = append(list, to)
				}
			}
		})
	}
	for i, r := range f.rules {
		if !seen[i] && len(warnings) < maxIssues {
			warnings = append(warnings, issueAt(f.source, int(r.pos), r.name, "is never used"))
		}
	}
	return warnings
}

// tokens lists the references to tokens.
func (f *file) tokens() (list []*expr) {
	for _, r := range f.rules {
		r.body.walk(func(e *expr) {
			if e.op == opToken {
				list = append(list, e)
			}
		})
	}
	return list
}
