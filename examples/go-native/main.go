// Command go-native extracts a person from a text with package client.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/stencil-json/stencil/client"
)

type person struct {
	Name string `json:"name"`
	Age  int    `json:"age" jsonschema:"minimum=0"`
}

func main() {
	url := os.Getenv("STENCIL_URL")
	if url == "" {
		url = "http://127.0.0.1:8080"
	}
	request := client.Request{Prompt: "Maria Lopez, 34, lives in Bergen.\n", Temperature: client.Value(0.0), MaxTokens: 60}
	p, answer, err := client.JSON[person](context.Background(), client.New(url), request)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, %d (enforced: %v)\n", p.Name, p.Age, answer.Receipt.Enforced)
}
