// Command train does the parts of the bundled model's training outside of the
// tensor library: it learns the vocabulary, writes lessons as tokens, and
// writes the trained weights as a GGUF file. models/README.md documents its
// use.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/models/lessons"
	"github.com/stencil-json/stencil/vocab"
)

// description is the general.description of the model.
const description = "Extracts JSON from short texts by a JSON Schema. Made for stencil from generated documents alone; knows nothing else."

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("expected one of vocab, size, tokens, exams, gguf")
	}
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	path := f.String("vocab", "", "GGUF file of the vocabulary")
	size := f.Int("size", 7168, "tokens of the vocabulary")
	seed := f.Uint64("seed", 1, "of the lessons")
	n := f.Int("n", 1000, "number of lessons")
	held := f.String("unseen", "", "what is taken from what is held out, of words,phrases,keys")
	set := f.String("set", "seen", "name of the cases that exams writes")
	only := f.String("only", "", "tasks that tokens are written of, with commas between them; default all")
	swap := f.Float64("swap", 0, "share of lessons in whose tokens parts of words are exchanged")
	more := f.Bool("more", false, "write the further answers about a text too")
	weights := f.String("weights", "", "safetensors file of trained weights")
	out := f.String("out", "", "GGUF file to be written")
	kind := f.String("type", "q8_0", "of the weights in it")
	name := f.String("name", "stencil-extract", "of the model")
	context := f.Int("context", 4096, "length of the context that the file announces")
	if err := f.Parse(args[1:]); err != nil {
		return err
	}
	unseen := lessons.Unseen{Words: strings.Contains(*held, "words"), Phrases: strings.Contains(*held, "phrases"), Keys: strings.Contains(*held, "keys")}
	switch args[0] {
	case "vocab":
		return learn(*path, *size)
	case "exams":
		return exams(os.Stdout, *set, *seed, unseen, *n)
	case "size":
		v, err := vocab.Load(*path)
		if err != nil {
			return err
		}
		fmt.Println(v.Len())
		return nil
	case "gguf":
		typ, err := models.ParseType(*kind)
		if err != nil {
			return err
		}
		return models.WriteTrained(*out, *weights, models.TrainedOptions{
			Vocab: *path, Name: *name, Description: description, License: "MIT", Context: *context, Type: typ, Greedy: true,
		})
	case "tokens":
		return tokens(os.Stdout, *path, tokenOptions{*seed, unseen, *only, *n, *swap, *more})
	}
	return fmt.Errorf("unknown command %q", args[0])
}
