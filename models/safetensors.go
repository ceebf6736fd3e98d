package models

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// storedTypes are the supported number formats of safetensors files, with the
// bytes of a number.
var storedTypes = map[string]int64{"F32": 4, "F16": 2, "BF16": 2}

// rows returns a source of a tensor's rows for [Writer.Tensor]. The tensor
// must have the given shape, whose fastest-varying dimension is first; in the
// file it is last.
func (t *tensorFile) rows(name string, shape []int64) (func(row []float32), error) {
	info, ok := t.header[name]
	if !ok {
		return nil, fmt.Errorf("no tensor %s", name)
	}
	want := slices.Clone(shape)
	slices.Reverse(want)
	if !slices.Equal(info.Shape, want) {
		return nil, fmt.Errorf("tensor %s: shape %v, want %v", name, info.Shape, want)
	}
	width, ok := storedTypes[info.Type]
	if !ok {
		return nil, fmt.Errorf("tensor %s: numbers of type %s, want F32, F16 or BF16", name, info.Type)
	}
	size := width
	for _, n := range shape {
		size *= n
	}
	from, to := info.Offsets[0], info.Offsets[1]
	if from < 0 || to > int64(len(t.bytes)) || to-from != size {
		return nil, fmt.Errorf("tensor %s: bytes %d to %d of %d, want %d bytes", name, from, to, len(t.bytes), size)
	}
	data := t.bytes[from:to]
	return func(row []float32) {
		readNumbers(row, data, info.Type)
		data = data[int64(len(row))*width:]
	}, nil
}

// readNumbers fills row from the start of data.
func readNumbers(row []float32, data []byte, typ string) {
	switch typ {
	case "F32":
		for i := range row {
			row[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
	case "F16":
		for i := range row {
			row[i] = fromHalf(binary.LittleEndian.Uint16(data[2*i:]))
		}
	case "BF16": // the upper half of a float32
		for i := range row {
			row[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(data[2*i:])) << 16)
		}
	default:
		panic("models: numbers of type " + typ)
	}
}

// fromHalf is the inverse of [half].
func fromHalf(h uint16) float32 {
	sign, exp, frac := uint32(h&0x8000)<<16, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exp {
	case 0x1f: // infinity or NaN
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	case 0: // subnormal: a multiple of 2^-24
		return math.Float32frombits(sign | math.Float32bits(float32(frac)/(1<<24)))
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}
