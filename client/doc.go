// Package client requests documents from a stencil server that fit a type, a JSON Schema, a grammar, a regular
// expression or a list of choices.
//
//	c := client.New("http://127.0.0.1:8080")
//	type Person struct {
//		Name string `json:"name"`
//		Age  int    `json:"age" jsonschema:"minimum=0"`
//	}
//	person, answer, err := client.JSON[Person](ctx, c, client.Request{Prompt: "Maria Lopez, 34.\n", Temperature: client.Value(0.0)})
//
// The receipt in the answer reports what was enforced. [Client.Stream] yields fields as they are completed. A program
// outside this repository requires the module with
//
//	go mod edit -require stencil@v0.0.0 -replace stencil=PATH-TO-THE-REPOSITORY
package client
