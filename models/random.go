package models

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/stencil-json/stencil/vocab"
)

// RandomDescription is the start of the general.description of every
// random-weight model.
const RandomDescription = "Random weights: for testing only, the text it writes means nothing."

// RandomOptions configures a random-weight model. Zero fields mean the
// default, which depends on the architecture; fields that an architecture
// does not have must be zero.
type RandomOptions struct {
	Arch  string // an architecture of llama.cpp, see [Architectures]; default llama
	Vocab string // GGUF file whose vocabulary is used; "": the built-in one
	Name  string // general.name; default "random", the architecture if it is not llama, and the sizes

	Layers     int     // default 2, or as many as show every kind of layer
	Width      int     // size of the embedding; default 64
	Heads      int     // attention heads; Width/Heads must be even; default Width/16, at most 32
	KVHeads    int     // key and value heads, a divisor of Heads; default Heads
	HeadSize   int     // size of a head; default Width/Heads
	FF         int     // inner size of the feed-forward part, or of each expert's; default 3*Width
	Experts    int     // per layer; default 8
	ExpertUsed int     // experts used for a token; default 2
	Window     int     // tokens in a sliding window
	State      int     // size of the head of a recurrent state: numbers stored for each channel
	Pooling    Pooling // how token embeddings are combined
	Context    int     // context length in the file; default 4096
	Type       Type    // of the matrices; default F32
	Seed       uint64  // equal options and seeds give equal files

	Progress func(done float64) // called while writing, with values from 0 to 1
}

func (o RandomOptions) withDefaults(a *architecture) RandomOptions {
	def := func(p *int, v int) {
		if *p == 0 {
			*p = v
		}
	}
	def(&o.Layers, max(a.layers, 2))
	def(&o.Width, 64)
	if a.uses&attention != 0 {
		def(&o.Heads, max(1, min(o.Width/16, 32)))
		def(&o.KVHeads, o.Heads)
		if o.Heads > 0 && o.Width%o.Heads == 0 {
			def(&o.HeadSize, o.Width/o.Heads)
		}
	}
	if a.uses&feedForward != 0 {
		def(&o.FF, 3*o.Width)
	}
	if a.uses&experts != 0 {
		def(&o.Experts, 8)
		def(&o.ExpertUsed, min(2, o.Experts))
	}
	def(&o.Window, a.window)
	def(&o.State, a.state)
	if o.Pooling == "" {
		o.Pooling = a.pooling
	}
	def(&o.Context, 4096)
	if o.Name == "" {
		name := "random"
		if o.Arch != "llama" {
			name += " " + o.Arch + ","
		}
		o.Name = fmt.Sprintf("%s %d layers of %d, %s", name, o.Layers, o.Width, o.Type)
	}
	return o
}

// refuse returns an error for the first option that is set although the
// architecture does not have it.
func (o RandomOptions) refuse(a *architecture) error {
	for _, x := range []struct {
		name string
		set  bool
		use  use
	}{
		{"heads", o.Heads != 0, attention},
		{"KV heads", o.KVHeads != 0, kvHeads},
		{"a head size", o.HeadSize != 0, headSize},
		{"ff", o.FF != 0, feedForward},
		{"experts", o.Experts != 0, experts},
		{"used experts", o.ExpertUsed != 0, experts},
		{"a window", o.Window != 0, window},
		{"a state size", o.State != 0, state},
		{"pooling", o.Pooling != "", pooling},
	} {
		if x.set && a.uses&x.use == 0 {
			return fmt.Errorf("models: the architecture %s takes no option for %s", a.name, x.name)
		}
	}
	return nil
}

func (o RandomOptions) check(a *architecture) error {
	const most = 1 << 20 // far above any model, and products of two fit into 64 bits
	for _, x := range []struct {
		name string
		n    int
		use  use
	}{
		{"layers", o.Layers, 0}, {"width", o.Width, 0}, {"heads", o.Heads, attention}, {"KV heads", o.KVHeads, kvHeads},
		{"ff", o.FF, feedForward}, {"experts", o.Experts, experts},
		{"used experts", o.ExpertUsed, experts}, {"window", o.Window, window}, {"state size", o.State, state}, {"context", o.Context, 0},
	} {
		if a.uses&x.use == x.use && (x.n < 1 || x.n > most) {
			return fmt.Errorf("models: %s must be between 1 and %d, not %d", x.name, most, x.n)
		}
	}
	// The limits of llama.cpp 0.5.0: LLAMA_MAX_LAYERS, LLAMA_MAX_EXPERTS.
	switch {
	case int(o.Type) >= len(types):
		return errors.New("models: unknown type of weights")
	case o.Layers > 512:
		return fmt.Errorf("models: %d layers, llama.cpp reads at most 512", o.Layers)
	case o.Experts > 1024:
		return fmt.Errorf("models: %d experts, llama.cpp reads at most 1024", o.Experts)
	case o.ExpertUsed > o.Experts:
		return fmt.Errorf("models: %d experts are used of %d", o.ExpertUsed, o.Experts)
	}
	if a.uses&attention != 0 {
		switch {
		case o.HeadSize == 0, o.HeadSize == o.Width/o.Heads && o.HeadSize%2 != 0:
			return fmt.Errorf("models: a width of %d cannot be cut into %d heads of even size", o.Width, o.Heads)
		case o.HeadSize < 2 || o.HeadSize > most || o.HeadSize%2 != 0:
			return fmt.Errorf("models: head size must be even and between 2 and %d, not %d", most, o.HeadSize)
		case o.Heads%o.KVHeads != 0:
			return fmt.Errorf("models: %d KV heads do not divide %d heads", o.KVHeads, o.Heads)
		}
	}
	if o.Type == Q4_K_M {
		for _, x := range []struct {
			name string
			n    int
		}{{"width", o.Width}, {"ff", o.FF}} {
			if x.n%256 != 0 {
				return fmt.Errorf("models: %s needs a %s that is a multiple of the 256 in a block, not %d", o.Type, x.name, x.n)
			}
		}
	}
	if a.uses&pooling != 0 {
		if err := a.checkPooling(o.Pooling); err != nil {
			return err
		}
	}
	if a.check != nil {
		return a.check(o)
	}
	return nil
}

// Random writes a random-weight model to w.
func Random(w io.Writer, opt RandomOptions) error {
	if opt.Arch == "" {
		opt.Arch = "llama"
	}
	a, err := findArchitecture(opt.Arch)
	if err != nil {
		return err
	}
	if err := opt.refuse(a); err != nil {
		return err
	}
	opt = opt.withDefaults(a)
	if err := opt.check(a); err != nil {
		return err
	}
	g := new(Writer)
	describeModel(g, a.name, opt.Name, opt.Type)
	a.keys(opt, keys{g, a.name})
	tokens, err := addVocab(g, a, opt.Vocab)
	if err != nil {
		return err
	}
	g.Uint32(a.name+".vocab_size", uint32(tokens))
	l := &tensorList{opt: opt, tokens: int64(tokens)}
	a.tensors(opt, l)
	if err := l.addTo(g); err != nil {
		return err
	}
	return g.Write(w, opt.Progress)
}

// describeModel writes the keys common to all models.
func describeModel(g *Writer, arch, name string, typ Type) {
	g.String("general.architecture", arch)
	g.String("general.type", "model")
	g.String("general.name", name)
	g.Uint32("general.quantization_version", 2)
	g.Uint32("general.file_type", types[typ].file)
}

// addVocab copies the tokenizer's keys from the file at path, or writes the
// built-in ones, and returns the number of tokens.
func addVocab(g *Writer, a *architecture, path string) (int, error) {
	const segments = "tokenizer.ggml.token_type_count"
	if path == "" {
		g.String("general.description", RandomDescription+" Vocabulary: stencil's built-in one.")
		if a.wordPiece {
			g.Uint32(segments, segmentTypes)
			return addTinyWordPiece(g), nil
		}
		return addTinyVocab(g), nil
	}
	from, err := vocab.OpenGGUF(path)
	if err != nil {
		return 0, fmt.Errorf("models: %w", err)
	}
	g.String("general.description", RandomDescription+" Vocabulary: "+from.Str("general.name")+".")
	tokens, err := g.copyVocab(from, path)
	if err != nil {
		return 0, err
	}
	if a.wordPiece {
		// A vocabulary of such a model has the key already.
		if n, ok := from.Int(segments); !ok {
			g.Uint32(segments, segmentTypes)
		} else if n != segmentTypes {
			return 0, fmt.Errorf("models: %s: a vocabulary for %d types of segments, not %d", path, n, segmentTypes)
		}
	}
	return tokens, nil
}

// A tensorList is the tensors of a random-weight model, in the order of the
// file. Its methods name the role of a tensor, which determines its type and
// distribution.
type tensorList struct {
	opt    RandomOptions
	tokens int64
	list   []randomTensor
}

type randomTensor struct {
	namedShape
	quantised bool // in the type of the matrices
	lenient   bool // in another type if its rows do not fit into blocks
	mean, std float64
}

func (l *tensorList) add(t randomTensor) { l.list = append(l.list, t) }

// norm adds the weights of a norm, which are 1.
func (l *tensorList) norm(name string, n int) {
	l.add(randomTensor{namedShape: namedShape{name + ".weight", []int64{int64(n)}}, mean: 1})
}

// layerNorm adds the weights and biases of a norm that has both.
func (l *tensorList) layerNorm(name string, n int) {
	l.norm(name, n)
	l.small(name+".bias", 0, 0, n)
}

// matrix adds a matrix with in inputs and out outputs that keeps their size.
func (l *tensorList) matrix(name string, in, out int) {
	l.add(randomTensor{namedShape{name + ".weight", []int64{int64(in), int64(out)}}, true, false, 0, fromInputs(in)})
}

// inner adds matrices whose input size is determined by the architecture
// rather than the options: if it does not fit into blocks, they have a type
// without blocks.
func (l *tensorList) inner(name string, in, out int, more ...int) {
	shape := []int64{int64(in), int64(out)}
	for _, n := range more {
		shape = append(shape, int64(n))
	}
	l.add(randomTensor{namedShape{name + ".weight", shape}, true, true, 0, fromInputs(in)})
}

// perExpert adds one matrix for each expert.
func (l *tensorList) perExpert(name string, in, out int) {
	l.add(randomTensor{namedShape{name + ".weight", []int64{int64(in), int64(out), int64(l.opt.Experts)}}, true, false, 0, fromInputs(in)})
}

// small adds numbers that llama.cpp requires in full precision, or that its
// own quantiser does not quantise.
func (l *tensorList) small(name string, mean, std float64, shape ...int) {
	t := randomTensor{namedShape: namedShape{name: name}, mean: mean, std: std}
	for _, n := range shape {
		t.shape = append(t.shape, int64(n))
	}
	l.add(t)
}

// embedding adds the embeddings of all tokens.
func (l *tensorList) embedding(std float64) {
	l.add(randomTensor{namedShape{"token_embd.weight", []int64{int64(l.opt.Width), l.tokens}}, true, false, 0, std})
}

// output adds the output matrix. Its inputs are normalised to a mean square
// of 1, so the logits have its standard deviation times √width, which is 4.
func (l *tensorList) output() {
	l.add(randomTensor{namedShape{"output.weight", []int64{int64(l.opt.Width), l.tokens}}, true, false, 0, 4 * fromInputs(l.opt.Width)})
}

// fromInputs returns the standard deviation of a matrix whose outputs are as
// large as its inputs.
func fromInputs(n int) float64 { return 1 / math.Sqrt(float64(n)) }

// addTo adds the tensors to a file.
func (l *tensorList) addTo(g *Writer) error {
	var names []string
	for _, t := range l.list {
		names = append(names, t.name)
	}
	pick := typePicker(l.opt.Type, names)
	for _, t := range l.list {
		typ := F32
		if t.quantised {
			typ = pick(t.name, t.shape[0])
		}
		if _, err := typ.rowBytes(t.shape[0]); err != nil && t.lenient {
			typ = F16
		}
		fill := constant(float32(t.mean))
		if t.std != 0 {
			fill = normal(l.opt.Seed, strings.TrimSuffix(t.name, ".weight"), t.mean, t.std)
		}
		if err := g.Tensor(t.name, typ, t.shape, fill); err != nil {
			return err
		}
	}
	return nil
}

func constant(x float32) func([]float32) {
	return func(row []float32) {
		for i := range row {
			row[i] = x
		}
	}
}

// normal returns a source of rows of independent normal numbers.
func normal(seed uint64, name string, mean, std float64) func([]float32) {
	h := fnv.New64a()
	io.WriteString(h, name)
	rng := rand.New(rand.NewPCG(seed, h.Sum64()))
	return func(row []float32) {
		for i := range row {
			row[i] = float32(mean + rng.NormFloat64()*std)
		}
	}
}

// WriteRandom writes a random-weight model to the file at path, which is
// created only when it is complete.
func WriteRandom(path string, opt RandomOptions) error {
	return create(path, func(w io.Writer) error { return Random(w, opt) })
}
