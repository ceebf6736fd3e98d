package regular

import (
	"errors"
	"testing"
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
		s.Report(&User{Step: step})
		try(func() {
			e, err := s.Pattern(heavy)
			if err != nil {
				t.Fatal(err)
			}
			m, err := s.Compile(s.And(e, s.Length(300, -1)))
			if err != nil {
				t.Fatal(err)
			}
			m = m.Reporting(&User{Step: step})
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
