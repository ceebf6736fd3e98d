package regular_test

import (
	"fmt"

	"github.com/stencil-json/stencil/regular"
)

// Expressions are combined before they become an automaton, whose states are
// derivatives: what remains to be matched after each character.
func Example() {
	s := regular.NewStore(regular.Limits{})
	word, _ := s.Pattern("^[a-c]+$")
	double, _ := s.Pattern("aa")
	e := s.And(word, s.Not(double), s.Length(2, 3)) // a, b and c without aa, two or three of them
	m, err := s.Compile(e)
	if err != nil {
		fmt.Println(err)
		return
	}
	q := m.Start()
	for _, r := range "ab" {
		q = m.Step(q, r)
		fmt.Printf("%c: accepting %v, shortest end %q, %d strings left\n", r, m.Accepting(q), m.Shortest(q), m.Count(q, 100))
	}
	fmt.Println("aa is dead:", m.Step(m.Step(m.Start(), 'a'), 'a') == regular.Dead)
	// Output:
	// a: accepting false, shortest end "b", 8 strings left
	// b: accepting true, shortest end "", 4 strings left
	// aa is dead: true
}
