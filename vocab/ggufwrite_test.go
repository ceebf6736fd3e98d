package vocab

import (
	"encoding/binary"
	"math"
)

// ggufBuilder writes small GGUF files for tests.
type ggufBuilder struct {
	keys []byte
	n    uint64
}

func (b *ggufBuilder) key(name string, t ValueType) {
	b.n++
	b.text(name)
	b.keys = binary.LittleEndian.AppendUint32(b.keys, uint32(t))
}

func (b *ggufBuilder) text(s string) {
	b.keys = binary.LittleEndian.AppendUint64(b.keys, uint64(len(s)))
	b.keys = append(b.keys, s...)
}

func (b *ggufBuilder) str(name, value string) {
	b.key(name, TypeString)
	b.text(value)
}

func (b *ggufBuilder) u32(name string, value uint32) {
	b.key(name, TypeUint32)
	b.keys = binary.LittleEndian.AppendUint32(b.keys, value)
}

func (b *ggufBuilder) flag(name string, value bool) {
	b.key(name, TypeBool)
	if value {
		b.keys = append(b.keys, 1)
	} else {
		b.keys = append(b.keys, 0)
	}
}

func (b *ggufBuilder) array(name string, elem ValueType, n int) {
	b.key(name, TypeArray)
	b.keys = binary.LittleEndian.AppendUint32(b.keys, uint32(elem))
	b.keys = binary.LittleEndian.AppendUint64(b.keys, uint64(n))
}

func (b *ggufBuilder) strs(name string, list []string) {
	b.array(name, TypeString, len(list))
	for _, s := range list {
		b.text(s)
	}
}

func (b *ggufBuilder) floats(name string, list []float32) {
	b.array(name, TypeFloat32, len(list))
	for _, f := range list {
		b.keys = binary.LittleEndian.AppendUint32(b.keys, math.Float32bits(f))
	}
}

func (b *ggufBuilder) ints(name string, list []int32) {
	b.array(name, TypeInt32, len(list))
	for _, i := range list {
		b.keys = binary.LittleEndian.AppendUint32(b.keys, uint32(i))
	}
}

func (b *ggufBuilder) bytes(name string, list []byte) {
	b.array(name, TypeUint8, len(list))
	b.keys = append(b.keys, list...)
}

// file returns the file without tensors.
func (b *ggufBuilder) file() []byte {
	out := binary.LittleEndian.AppendUint32(nil, ggufMagic)
	out = binary.LittleEndian.AppendUint32(out, 3)
	out = binary.LittleEndian.AppendUint64(out, 0)
	out = binary.LittleEndian.AppendUint64(out, b.n)
	return append(out, b.keys...)
}

// tokens writes the arrays of a token table.
func (b *ggufBuilder) tokens(list []Token) {
	fileKind := map[Kind]int32{Normal: 1, Unknown: 2, Control: 3, UserDefined: 4, Unused: 5, Byte: 6}
	texts, scores, kinds := make([]string, len(list)), make([]float32, len(list)), make([]int32, len(list))
	for i, t := range list {
		texts[i], scores[i], kinds[i] = t.Text, t.Score, fileKind[t.Kind]
	}
	b.strs("tokenizer.ggml.tokens", texts)
	b.floats("tokenizer.ggml.scores", scores)
	b.ints("tokenizer.ggml.token_type", kinds)
}
