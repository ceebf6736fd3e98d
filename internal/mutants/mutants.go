// Package mutants damages model files for tests: in the places where a GGUF file's header says something, and elsewhere.
package mutants

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/stencil-json/stencil/vocab"
)

// A Part is a place in the header of a GGUF file that says one thing.
type Part struct {
	What     string // such as "llama.block_count"
	At, Size int    // in bytes
}

// Parts walks through a header that is well-formed. Of the elements of a
// long array only a few are parts, so that a vocabulary is no larger a target
// than the rest.
func Parts(data []byte) []Part {
	const few = 4
	var out []Part
	at := 8
	number := func(what string, size int) uint64 {
		out = append(out, Part{what, at, size})
		var b [8]byte
		copy(b[:], data[at:at+size])
		at += size
		return binary.LittleEndian.Uint64(b[:])
	}
	text := func(what string) string {
		n := int(number("length of "+what, 8))
		if n > 0 {
			out = append(out, Part{what, at, n})
		}
		at += n
		return string(data[at-n : at])
	}
	sizes := map[vocab.ValueType]int{
		vocab.TypeUint8: 1, vocab.TypeInt8: 1, vocab.TypeUint16: 2, vocab.TypeInt16: 2, vocab.TypeUint32: 4, vocab.TypeInt32: 4,
		vocab.TypeFloat32: 4, vocab.TypeBool: 1, vocab.TypeUint64: 8, vocab.TypeInt64: 8, vocab.TypeFloat64: 8,
	}
	nTensors, nKeys := number("tensors", 8), number("keys", 8)
	for range nKeys {
		key := text("key")
		typ := vocab.ValueType(number("type of "+key, 4))
		n := uint64(1)
		if typ == vocab.TypeArray {
			typ = vocab.ValueType(number("elements' type of "+key, 4))
			n = number("length of "+key, 8)
		}
		kept := len(out)
		for range n {
			if typ == vocab.TypeString {
				text(key)
			} else {
				number(key, sizes[typ])
			}
		}
		if len(out) > kept+2*few {
			out = slices.Delete(out, kept+few, len(out)-few)
		}
	}
	for range nTensors {
		name := text("tensor's name")
		for d := range number("dimensions of "+name, 4) {
			number(fmt.Sprintf("dimension %d of %s", d, name), 8)
		}
		number("type of "+name, 4)
		number("offset of "+name, 8)
	}
	return append(out, Part{"end", at, 0})
}

// Mutate damages a copy of a model file, at one place or a few, and says how.
func Mutate(rng *rand.Rand, seed []byte, parts []Part) (data []byte, how string) {
	data = slices.Clone(seed)
	header := parts[len(parts)-1].At
	parts = parts[:len(parts)-1]
	p := parts[rng.IntN(len(parts))]
	field := data[p.At : p.At+p.Size]
	flip := func(at int) { data[at] ^= 1 << rng.IntN(8) }
	switch k := rng.IntN(20); {
	case k < 4:
		how = "bits flipped at"
		for range 1 + rng.IntN(3) {
			at := rng.IntN(header)
			how += fmt.Sprint(" ", at)
			flip(at)
		}
	case k < 8:
		how = "a bit flipped in " + p.What
		flip(p.At + rng.IntN(p.Size))
	case k < 13: // numbers that are likely to hurt
		var b [8]byte
		copy(b[:], field)
		v := binary.LittleEndian.Uint64(b[:])
		choices := []uint64{0, 1, 2, 3, 7, v + 1, v - 1, v * 2, v / 2, v * 3, 1000, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<63 - 1, 1 << 63, 1<<64 - 1,
			0x7fc00000, 0x7f800000} // as float32, not a number and infinity
		n := choices[rng.IntN(len(choices))]
		binary.LittleEndian.PutUint64(b[:], n)
		copy(field, b[:])
		how = fmt.Sprintf("%s set from %d to %d", p.What, v, n)
	case k < 14:
		how = p.What + " overwritten"
		for i := range field {
			field[i] = byte(rng.Uint32())
		}
	case k < 15:
		q := parts[rng.IntN(len(parts))]
		how = p.What + " copied over " + q.What
		copy(data[q.At:q.At+q.Size], bytes.Clone(field))
	case k < 16:
		n := 1 + rng.IntN(min(header-p.At, 64))
		how = fmt.Sprintf("%d bytes taken out at %s", n, p.What)
		data = slices.Delete(data, p.At, p.At+n)
	case k < 17:
		more := make([]byte, 1+rng.IntN(64))
		how = fmt.Sprintf("%d bytes put in at %s", len(more), p.What)
		for i := range more {
			more[i] = byte(rng.Uint32() >> rng.IntN(8))
		}
		data = slices.Insert(data, p.At, more...)
	case k < 18:
		n := rng.IntN(len(data))
		how = fmt.Sprintf("cut off at %d of %d", n, len(data))
		data = data[:n]
	default:
		how = "weights flipped"
		for range 1 << rng.IntN(12) {
			flip(header + rng.IntN(len(data)-header))
		}
	}
	return data, how
}
