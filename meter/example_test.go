package meter_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/stencil-json/stencil/meter"
)

// The loops of the work only report their steps.
func Example() {
	var table []int
	m := meter.New(meter.Limits{Bytes: 1 << 20}, func() int { return 8 * len(table) })
	fill := func(n int) (err error) {
		defer meter.Catch(&err)
		m.Start(context.Background())
		for range n {
			m.Step(1)
			table = append(table, n)
		}
		return nil
	}
	fmt.Println(fill(1000))
	err := fill(1 << 30)
	var limit *meter.LimitError
	fmt.Println(err, errors.As(err, &limit))
	// Output:
	// <nil>
	// more than 1048576 bytes of memory true
}
