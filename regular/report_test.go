package regular

import (
	"errors"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/regular/runes"
)

// heavy has states each of which asks for a search among others.
const heavy = "^((([a-z ]{1,1000}){1,1000},?){1,1000}x?){1,1000}$"

// Who is told of the work can end it wherever it is, and the Store answers others as if nothing had happened.
func TestReport(t *testing.T) {
	enough := errors.New("enough")
	for _, after := range []int{1, 10, 100, 1000} {
		s, told := NewStore(Limits{}), 0
		step := func(n int) {
			if told += n; told > after*tellEvery {
				panic(enough)
			}
		}
		ended := 0
		try := func(f func()) {
			defer func() {
				if r := recover(); r == enough {
					ended++
				} else if r != nil {
					panic(r)
				}
			}()
			told = 0
			f()
		}
		s.Report(NewUser(step, func(err *LimitError) { t.Error(err) }))
		try(func() {
			e, err := s.Pattern(heavy)
			if err != nil {
				t.Fatal(err)
			}
			m, err := s.Compile(s.And(e, s.Length(300, -1)))
			if err != nil {
				t.Fatal(err)
			}
			m = m.Reporting(NewUser(step, func(err *LimitError) { t.Error(err) }))
			for q, i := m.Start(), 0; i < 400; i++ {
				q = m.Step(q, 'a')
				m.Shortest(q)
				m.Loosen(q, 16)
				m.Head(q)
			}
		})
		if ended == 0 {
			t.Fatalf("%d reports: the work is too little", after)
		}
		s.Report(nil)
		for text, fits := range map[string]bool{"ab,x": true, "ab,,": false, "": false, "zz zz": true, "A": false} {
			e, err := s.Pattern(heavy)
			if err != nil {
				t.Fatal(err)
			}
			m, err := s.Compile(e)
			if err != nil {
				t.Fatal(err)
			}
			if q := m.after(m.Start(), []byte(text)); m.Accepting(q) != fits || m.Err() != nil {
				t.Errorf("after an end at %d reports: %q: %t, %v", after, text, m.Accepting(q), m.Err())
			}
		}
	}
}

// TestExceeded checks that each operation that exceeds a limit tells its user, once, with an error or by the user's function; that it adds
// nothing; and that the Store serves the next one.
func TestExceeded(t *testing.T) {
	long := strings.Repeat("x", 5000)
	for name, op := range map[string]func(s *Store, e Expr) (Expr, error){
		"Literal": func(s *Store, _ Expr) (Expr, error) { return s.Literal(long), nil },
		"Strings": func(s *Store, _ Expr) (Expr, error) { return s.Strings([]string{long, "y" + long}), nil },
		"Concat": func(s *Store, e Expr) (Expr, error) {
			for range 5000 {
				e = s.Concat(e, s.Class([]runes.Range{{Lo: 'a', Hi: 'c'}}))
			}
			return e, nil
		},
		"Class": func(s *Store, e Expr) (Expr, error) {
			for i := range rune(5000) {
				e = s.Class([]runes.Range{{Lo: 2 * i, Hi: 2 * i}})
			}
			return e, nil
		},
		"Repeat": func(s *Store, e Expr) (Expr, error) {
			for i := range 5000 {
				e = s.Repeat(s.Literal(string(rune('a'+i))), 2, i+3)
			}
			return e, nil
		},
		"Length": func(s *Store, e Expr) (Expr, error) {
			for i := range 5000 {
				e = s.Length(i, i+1)
			}
			return e, nil
		},
		"Or, And, Not": func(s *Store, e Expr) (Expr, error) {
			for i := range 5000 {
				e = s.Not(s.Or(e, s.And(s.Length(i, i+2), s.Not(e))))
			}
			return e, nil
		},
		"Pattern":   func(s *Store, _ Expr) (Expr, error) { return s.Pattern(long) },
		"GoPattern": func(s *Store, _ Expr) (Expr, error) { return s.GoPattern(long) },
		"Format": func(s *Store, e Expr) (Expr, error) {
			for c := 'c'; s.Nodes() < 62; c++ {
				s.Literal(string(c))
			}
			for _, name := range []string{"email", "uri", "date-time", "iri", "idn-email", "ipv6", "uri-template"} {
				e, _ = s.Format(name)
			}
			return e, nil
		},
	} {
		limits := Limits{Nodes: 64}
		s := NewStore(limits)
		exceeded := 0
		s.Report(NewUser(nil, func(err *LimitError) {
			if exceeded++; err.Limit == "" || err.Max == 0 {
				t.Errorf("%s: %v", name, err)
			}
		}))
		_, err := op(s, s.Literal("ab"))
		var limit *LimitError
		if told := errors.As(err, &limit); told == (exceeded > 0) {
			t.Errorf("%s: error %v, and the user was told %d times", name, err, exceeded)
		}
		if s.Err() != nil || s.Nodes() > limits.Nodes {
			t.Errorf("%s: %v, %d expressions", name, s.Err(), s.Nodes())
		}
		if _, err := s.Compile(s.Literal("ab")); err != nil && s.Nodes() < limits.Nodes-10 {
			t.Errorf("%s, afterwards: %v", name, err)
		}
		// A user that ends the operation.
		s = NewStore(limits)
		s.Report(NewUser(nil, func(err *LimitError) { panic(err) }))
		func() {
			defer func() {
				if r, ok := recover().(*LimitError); ok == errors.As(err, &limit) {
					t.Errorf("%s ends with %v", name, r)
				}
			}()
			_, _ = op(s, s.Literal("ab"))
		}()
		if s.Err() != nil {
			t.Errorf("%s, ended: %v", name, s.Err())
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a user that isn't told of limits")
		}
	}()
	NewUser(func(int) {}, nil)
}
