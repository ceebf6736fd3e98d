// Command drawn compares the engine with two validators on documents that two libraries
// generate from the schemas themselves, not from masks: a document that a mask wrongly
// excludes can't be found by sampling from masks.
//
//	go run ./bench/drawn schemas [-every N] CORPUS… >schemas.jsonl
//	go run ./bench/drawn compare -vocab GGUF [-explained FILE] CORPUS… <judged.jsonl
//
// scripts/drawn runs both and, between them, draw.py (hypothesis-jsonschema, jsonschema)
// and draw.mjs (json-schema-faker, ajv). Each document is fed byte by byte, in the tokens
// of the tokenizer, and in random tokens, each of which must be in its mask. Every
// disagreement with a validator must be explained in explained.json.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/stencil-json/stencil/bench"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/vocab"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "drawn:", err)
		os.Exit(1)
	}
}

// lenient are the options with which the engine accepts every way to write every valid
// document.
var lenient = schema.Options{Order: schema.OrderAny, Whitespace: schema.Flexible(0), AnyNumberSpelling: true}

func run(args []string, in io.Reader, out io.Writer) error {
	if len(args) == 0 || args[0] != "schemas" && args[0] != "compare" {
		return fmt.Errorf("the first argument is schemas or compare")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	every := flags.Int("every", 1, "take every n-th schema")
	vocabulary := flags.String("vocab", "", "GGUF file whose vocabulary to use (compare)")
	explained := flags.String("explained", "bench/drawn/explained.json", "what disagreements come from (compare)")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return fmt.Errorf("no corpus was named")
	}
	w := bufio.NewWriter(out)
	corpus := &bench.Corpus{Paths: flags.Args(), Every: *every}
	if args[0] == "schemas" {
		if err := writeSchemas(corpus, w); err != nil {
			return err
		}
		return w.Flush()
	}
	v, err := vocab.Load(*vocabulary)
	if err != nil {
		return err
	}
	src, err := os.ReadFile(*explained)
	if err != nil {
		return err
	}
	c, err := newComparison(v, src)
	if err != nil {
		return fmt.Errorf("%s: %w", *explained, err)
	}
	corpus.Every = 1
	if err := c.run(corpus, in); err != nil {
		return err
	}
	c.report(w)
	if err := w.Flush(); err != nil {
		return err
	}
	if len(c.faults) > 0 {
		return fmt.Errorf("%d disagreements aren't explained", len(c.faults))
	}
	return nil
}

// aSchema is a line of schemas.jsonl.
type aSchema struct {
	ID     string          `json:"id"`
	Draft  string          `json:"draft"`
	Schema json.RawMessage `json:"schema"`
}

// writeSchemas writes the schemas that the engine accepts, each with the draft that the
// engine uses for it.
func writeSchemas(corpus *bench.Corpus, w io.Writer) error {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	return corpus.Each(func(c bench.Case) error {
		compiled, err := schema.Compile(c.Schema, lenient)
		if err != nil {
			return nil // refused; other harnesses count the reasons
		}
		var text bytes.Buffer
		if err := json.Compact(&text, c.Schema); err != nil {
			return nil // a file that is not JSON
		}
		return lines.Encode(aSchema{c.ID, compiled.Report().Draft, text.Bytes()})
	})
}
