package number_test

import (
	"fmt"

	"github.com/stencil-json/stencil/schema/number"
)

// The multiples of 7 from 8 to 30, byte by byte: a state is dead when no
// continuation is accepted.
func Example() {
	low, _ := number.Parse("8")
	high, _ := number.Parse("30")
	seven, _ := number.Parse("7")
	a, err := number.Compile(number.Spec{Integer: true, Min: &low, Max: &high, MultipleOf: []number.Decimal{seven}}, number.Canonical, number.Limits{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, text := range []string{"", "2", "28", "3", "14", "14."} {
		q := a.Start()
		for _, b := range []byte(text) {
			q = a.Step(q, b)
		}
		var next []byte
		for _, b := range []byte("-.0123456789e") {
			if a.Step(q, b) != number.Dead {
				next = append(next, b)
			}
		}
		fmt.Printf("%-5q dead %-5v accepting %-5v next %q\n", text, q == number.Dead, a.Accepting(q), next)
	}
	// Output:
	// ""    dead false accepting false next "12"
	// "2"   dead false accepting false next "18"
	// "28"  dead false accepting true  next ""
	// "3"   dead true  accepting false next ""
	// "14"  dead false accepting true  next ""
	// "14." dead true  accepting false next ""
}
