package validator_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/stencil-json/stencil/validator"
)

// The issues of a document, with their places.
func Example() {
	ctx := context.Background()
	s, err := validator.Compile(ctx, []byte(`{"type": "object", "properties": {"age": {"type": "integer", "maximum": 120}}, "required": ["name"]}`), "2020-12")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Validate(ctx, []byte(`{"name": "Ada", "age": 36}`)))
	var invalid *validator.Error
	if errors.As(s.Validate(ctx, []byte(`{"age": 250}`)), &invalid) {
		for _, issue := range invalid.Issues {
			fmt.Printf("%q: %s\n", issue.Pointer, issue.Reason)
		}
	}
	// Output:
	// <nil>
	// "": missing property 'name'
	// "/age": maximum: got 250, want 120
}
