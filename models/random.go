package models

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"strings"

	"stencil/vocab"
)

// RandomDescription is how the general.description of every random-weight
// model begins.
const RandomDescription = "Random weights: for testing only, the text it writes means nothing."

// RandomOptions sizes a random-weight model of the llama architecture. Zero
// fields mean the default.
type RandomOptions struct {
	Vocab string // GGUF file whose vocabulary is taken; "": the built-in one
	Name  string // general.name; default "random" and the sizes

	Layers  int    // default 2
	Width   int    // size of the embedding; default 64
	Heads   int    // attention heads, Width/Heads must be even; default Width/16, at most 32
	KVHeads int    // heads of keys and values, a divisor of Heads; default Heads
	FF      int    // inner size of the feed-forward part; default 3*Width
	Context int    // context length that the file announces; default 4096
	Type    Type   // of the matrices; default F32
	Seed    uint64 // same options and seed, same file

	Progress func(done float64) // called while writing, with 0 to 1
}

func (o RandomOptions) withDefaults() RandomOptions {
	def := func(p *int, v int) {
		if *p == 0 {
			*p = v
		}
	}
	def(&o.Layers, 2)
	def(&o.Width, 64)
	def(&o.Heads, max(1, min(o.Width/16, 32)))
	def(&o.KVHeads, o.Heads)
	def(&o.FF, 3*o.Width)
	def(&o.Context, 4096)
	if o.Name == "" {
		o.Name = fmt.Sprintf("random %d layers of %d, %s", o.Layers, o.Width, o.Type)
	}
	return o
}

func (o RandomOptions) check() error {
	const most = 1 << 20 // far above any model, and products of two fit into 64 bits
	for _, x := range []struct {
		name string
		n    int
	}{{"layers", o.Layers}, {"width", o.Width}, {"heads", o.Heads}, {"KV heads", o.KVHeads}, {"ff", o.FF}, {"context", o.Context}} {
		if x.n < 1 || x.n > most {
			return fmt.Errorf("models: %s must be between 1 and %d, not %d", x.name, most, x.n)
		}
	}
	switch {
	case int(o.Type) >= len(types):
		return errors.New("models: unknown type of weights")
	case o.Layers > 512: // llama.cpp's LLAMA_MAX_LAYERS
		return fmt.Errorf("models: %d layers, llama.cpp reads at most 512", o.Layers)
	case o.Width%o.Heads != 0 || o.Width/o.Heads%2 != 0:
		return fmt.Errorf("models: a width of %d cannot be cut into %d heads of even size", o.Width, o.Heads)
	case o.Heads%o.KVHeads != 0:
		return fmt.Errorf("models: %d KV heads do not divide %d heads", o.KVHeads, o.Heads)
	}
	return nil
}

// Random writes a random-weight model to w.
func Random(w io.Writer, opt RandomOptions) error {
	opt = opt.withDefaults()
	if err := opt.check(); err != nil {
		return err
	}
	g := new(Writer)
	opt.llama().describe(g, opt.Name, opt.Type)
	tokens, err := addVocab(g, opt.Vocab)
	if err != nil {
		return err
	}
	g.Uint32("llama.vocab_size", uint32(tokens))
	if err := addTensors(g, opt, int64(tokens)); err != nil {
		return err
	}
	return g.Write(w, opt.Progress)
}

func (o RandomOptions) llama() llama {
	return llama{layers: o.Layers, width: o.Width, heads: o.Heads, kvHeads: o.KVHeads, ff: o.FF, context: o.Context, eps: 1e-5, base: 10000}
}

// addVocab copies the tokenizer's keys from the file at path, or writes the
// built-in ones, and returns the number of tokens.
func addVocab(g *Writer, path string) (int, error) {
	if path == "" {
		g.String("general.description", RandomDescription+" Vocabulary: stencil's built-in one.")
		return addTinyVocab(g), nil
	}
	from, err := vocab.OpenGGUF(path)
	if err != nil {
		return 0, fmt.Errorf("models: %w", err)
	}
	g.String("general.description", RandomDescription+" Vocabulary: "+from.Str("general.name")+".")
	return g.copyVocab(from, path)
}

func addTensors(g *Writer, opt RandomOptions, tokens int64) error {
	var failed error
	for _, t := range opt.llama().tensors(tokens, false) {
		typ, fill := F32, ones
		if len(t.shape) == 2 {
			std := 1 / math.Sqrt(float64(t.shape[0]))
			switch t.name {
			case "token_embd.weight":
				std = 0.5
			case "output.weight":
				// What enters has been brought to a mean square of 1, so the
				// logits have this times √width, which is 4.
				std *= 4
			}
			typ, fill = opt.Type, normal(opt.Seed, strings.TrimSuffix(t.name, ".weight"), std)
		}
		failed = errors.Join(failed, g.Tensor(t.name, typ, t.shape, fill))
	}
	return failed
}

func ones(row []float32) {
	for i := range row {
		row[i] = 1
	}
}

// normal returns a source of rows of independent normal numbers.
func normal(seed uint64, name string, std float64) func([]float32) {
	h := fnv.New64a()
	io.WriteString(h, name)
	rng := rand.New(rand.NewPCG(seed, h.Sum64()))
	return func(row []float32) {
		for i := range row {
			row[i] = float32(rng.NormFloat64() * std)
		}
	}
}

// WriteRandom writes a random-weight model to the file at path, which appears
// only when it is whole.
func WriteRandom(path string, opt RandomOptions) error {
	return create(path, func(w io.Writer) error { return Random(w, opt) })
}
