// Command go-openai extracts a person from a text with OpenAI's client for Go.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/stencil-json/stencil/schemafrom"
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
	schema, err := schemafrom.Go[person]()
	if err != nil {
		log.Fatal(err)
	}
	client := openai.NewClient(option.WithBaseURL(url+"/v1"), option.WithAPIKey("none"))
	answer, err := client.Chat.Completions.New(context.Background(), openai.ChatCompletionNewParams{
		Model:       "stencil",
		Temperature: openai.Float(0),
		Messages:    []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Maria Lopez, 34, lives in Bergen.")},
		ResponseFormat: openai.ChatCompletionNewParamsResponseFormatUnion{OfJSONSchema: &openai.ResponseFormatJSONSchemaParam{
			JSONSchema: openai.ResponseFormatJSONSchemaJSONSchemaParam{Name: "person", Schema: json.RawMessage(schema)},
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	var p person
	if err := json.Unmarshal([]byte(answer.Choices[0].Message.Content), &p); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, %d\n", p.Name, p.Age)
}
