package models

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/stencil-json/stencil/vocab"
)

// TrainedOptions describes a trained model.
type TrainedOptions struct {
	Vocab       string // GGUF file with its vocabulary
	Name        string // general.name
	Description string // general.description
	License     string // general.license
	Context     int    // context length in the file
	Type        Type   // of the matrices
	Greedy      bool   // the file's default temperature is 0
}

// WriteTrained writes the GGUF file of a model whose weights are in a
// safetensors file, under GGUF's names, as 32-bit numbers. The file's
// metadata contains the shape: heads, kv_heads, eps and base.
func WriteTrained(path, weights string, opt TrainedOptions) error {
	from, err := vocab.OpenGGUF(opt.Vocab)
	if err != nil {
		return fmt.Errorf("models: %w", err)
	}
	t, err := readTensors(weights)
	if err != nil {
		return fmt.Errorf("models: %s: %w", weights, err)
	}
	shape, err := t.llama(opt.Context)
	if err != nil {
		return fmt.Errorf("models: %s: %w", weights, err)
	}
	g := new(Writer)
	describeModel(g, "llama", opt.Name, opt.Type)
	shape.keys(keys{g, "llama"})
	g.String("general.description", opt.Description)
	g.String("general.license", opt.License)
	if opt.Greedy {
		g.Float32("general.sampling.temp", 0)
	}
	tokens, err := g.copyVocab(from, opt.Vocab)
	if err != nil {
		return err
	}
	g.Uint32("llama.vocab_size", uint32(tokens))
	list := shape.tensors(int64(tokens), true)
	var names []string
	for _, n := range list {
		names = append(names, n.name)
	}
	pick := typePicker(opt.Type, names)
	for _, n := range list {
		data, err := t.data(n)
		if err != nil {
			return fmt.Errorf("models: %s: %w", weights, err)
		}
		typ := F32
		if len(n.shape) > 1 {
			typ = pick(n.name, n.shape[0])
		}
		next := func(row []float32) {
			for i := range row {
				row[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
			}
			data = data[4*len(row):]
		}
		if err := g.Tensor(n.name, typ, n.shape, next); err != nil {
			return err
		}
	}
	return create(path, func(w io.Writer) error { return g.Write(w, nil) })
}

// tensorFile is a safetensors file: the length of the header, the header,
// which is JSON, and the data.
type tensorFile struct {
	header map[string]tensorInfo
	meta   map[string]string
	bytes  []byte
}

type tensorInfo struct {
	Type    string   `json:"dtype"`
	Shape   []int64  `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

func readTensors(path string) (*tensorFile, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(raw) < 8 {
		return nil, fmt.Errorf("too short for a header")
	}
	n := binary.LittleEndian.Uint64(raw)
	if n > uint64(len(raw)-8) {
		return nil, fmt.Errorf("a header of %d bytes in a file of %d", n, len(raw))
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(raw[8:8+n], &entries); err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	t := &tensorFile{header: map[string]tensorInfo{}, bytes: raw[8+n:]}
	for name, entry := range entries {
		if name == "__metadata__" {
			err = json.Unmarshal(entry, &t.meta)
		} else {
			var info tensorInfo
			err = json.Unmarshal(entry, &info)
			t.header[name] = info
		}
		if err != nil {
			return nil, fmt.Errorf("header: %s: %w", name, err)
		}
	}
	return t, nil
}

// llama determines the shape of the model.
func (t *tensorFile) llama(context int) (llama, error) {
	l := llama{context: context}
	for key, to := range map[string]any{"heads": &l.heads, "kv_heads": &l.kvHeads, "eps": &l.eps, "base": &l.base} {
		if err := json.Unmarshal([]byte(t.meta[key]), to); err != nil {
			return l, fmt.Errorf("metadata: %s: %w", key, err)
		}
	}
	if l.heads < 1 || l.kvHeads < 1 {
		return l, fmt.Errorf("metadata: %d heads, %d of them for keys", l.heads, l.kvHeads)
	}
	for {
		up, ok := t.header[fmt.Sprintf("blk.%d.ffn_up.weight", l.layers)]
		if !ok {
			break
		}
		if len(up.Shape) != 2 {
			return l, fmt.Errorf("tensor blk.%d.ffn_up.weight: no matrix", l.layers)
		}
		l.ff, l.width = int(up.Shape[0]), int(up.Shape[1])
		l.layers++
	}
	if l.layers == 0 {
		return l, fmt.Errorf("no tensor blk.0.ffn_up.weight")
	}
	return l, nil
}

// data returns a tensor's bytes. In such a file shapes begin with the
// slowest-varying dimension.
func (t *tensorFile) data(want namedShape) ([]byte, error) {
	info, ok := t.header[want.name]
	if !ok {
		return nil, fmt.Errorf("no tensor %s", want.name)
	}
	size := int64(4)
	for i, n := range want.shape {
		if j := len(want.shape) - 1 - i; len(info.Shape) != len(want.shape) || info.Shape[j] != n {
			return nil, fmt.Errorf("tensor %s: shape %v, want %v backwards", want.name, info.Shape, want.shape)
		}
		size *= n
	}
	from, to := info.Offsets[0], info.Offsets[1]
	if info.Type != "F32" || from < 0 || to-from != size || to > int64(len(t.bytes)) {
		return nil, fmt.Errorf("tensor %s: %s, bytes %d to %d, want %d bytes of F32", want.name, info.Type, from, to, size)
	}
	return t.bytes[from:to], nil
}
