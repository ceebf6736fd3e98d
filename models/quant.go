package models

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// Type is a number format of weights, or a mixture of formats.
type Type uint8

// The types that can be written. Q8_0 and Q4_0 have blocks of 32 numbers with a
// common scale, the K-quants blocks of 256 with scales of parts.
//
// Q4_K_M is llama.cpp's mixture: Q4_K, and Q6_K for the output and, in half of
// the layers, for the values and the down projection of the feed-forward part.
// Matrices whose row length is not a multiple of 256 are in Q8_0, or in F16 if
// it is not a multiple of 32 either.
const (
	F32 Type = iota
	F16
	Q8_0
	Q4_0
	BF16
	Q4_K
	Q6_K
	Q4_K_M
)

// types has ggml's number of each type, the number of a file with mostly that
// type (enum llama_ftype), and the size of a block, 0 for a mixture.
var types = [...]struct {
	name         string
	ggml, file   uint32
	block, bytes int64
}{
	F32:    {"F32", 0, 0, 1, 4},
	F16:    {"F16", 1, 1, 1, 2},
	Q8_0:   {"Q8_0", 8, 7, 32, 34},
	Q4_0:   {"Q4_0", 2, 2, 32, 18},
	BF16:   {"BF16", 30, 32, 1, 2},
	Q4_K:   {"Q4_K", 12, 14, 256, 144},
	Q6_K:   {"Q6_K", 14, 18, 256, 210},
	Q4_K_M: {"Q4_K_M", 0, 15, 0, 0},
}

// TypeNames returns the names of all types.
func TypeNames() []string {
	var all []string
	for _, x := range types {
		all = append(all, x.name)
	}
	return all
}

// ParseType returns the type with that name, case-insensitively.
func ParseType(name string) (Type, error) {
	for t, x := range types {
		if strings.EqualFold(x.name, name) {
			return Type(t), nil
		}
	}
	return 0, fmt.Errorf("models: unknown type %q, expected one of %s", name, strings.Join(TypeNames(), ", "))
}

// String returns ggml's name of the type.
func (t Type) String() string { return types[t].name }

func (t Type) ggml() uint32 { return types[t].ggml }

// rowBytes returns the size of a row of n elements.
func (t Type) rowBytes(n int64) (int64, error) {
	x := types[t]
	if x.block == 0 {
		return 0, fmt.Errorf("%s is a mixture of types, not one for a tensor", x.name)
	}
	if n%x.block != 0 {
		return 0, fmt.Errorf("a row of %d elements is not a multiple of the %d in a block of %s", n, x.block, x.name)
	}
	return n / x.block * x.bytes, nil
}

// Append appends row in format t to dst; F16, BF16, Q8_0 and Q4_0 are rounded as
// by ggml's reference. The length of row must be a multiple of the block. It
// panics for a mixture.
func (t Type) Append(dst []byte, row []float32) []byte {
	switch t {
	case F32:
		for _, x := range row {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
		}
	case F16:
		for _, x := range row {
			dst = binary.LittleEndian.AppendUint16(dst, half(x))
		}
	case Q8_0:
		for ; len(row) >= 32; row = row[32:] {
			dst = appendQ8(dst, (*[32]float32)(row))
		}
	case Q4_0:
		for ; len(row) >= 32; row = row[32:] {
			dst = appendQ4(dst, (*[32]float32)(row))
		}
	case BF16:
		for _, x := range row {
			dst = binary.LittleEndian.AppendUint16(dst, brainHalf(x))
		}
	case Q4_K:
		for ; len(row) >= 256; row = row[256:] {
			dst = appendQ4K(dst, (*[256]float32)(row))
		}
	case Q6_K:
		for ; len(row) >= 256; row = row[256:] {
			dst = appendQ6K(dst, (*[256]float32)(row))
		}
	default:
		panic("models: " + t.String() + " is no type of a tensor")
	}
	return dst
}

// appendQ8 appends a scale in half precision and 32 signed bytes. The largest
// magnitude becomes 127.
func appendQ8(dst []byte, x *[32]float32) []byte {
	var most float32
	for _, v := range x {
		most = max(most, abs(v))
	}
	d := most / 127
	dst = binary.LittleEndian.AppendUint16(dst, half(d))
	var inv float32
	if d != 0 {
		inv = 1 / d
	}
	for _, v := range x {
		dst = append(dst, byte(int8(math.Round(float64(v*inv)))))
	}
	return dst
}

// appendQ4 appends a scale in half precision and 32 half bytes that represent -8
// to 7; the number with the largest magnitude becomes -8. Byte j holds the
// numbers j and j+16.
func appendQ4(dst []byte, x *[32]float32) []byte {
	var extreme float32
	for _, v := range x {
		if abs(v) > abs(extreme) {
			extreme = v
		}
	}
	d := extreme / -8
	dst = binary.LittleEndian.AppendUint16(dst, half(d))
	var inv float32
	if d != 0 {
		inv = 1 / d
	}
	nibble := func(v float32) byte { return min(15, byte(int8(v*inv+8.5))) }
	for j := range 16 {
		dst = append(dst, nibble(x[j])|nibble(x[j+16])<<4)
	}
	return dst
}

func abs(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// half returns x in IEEE 754 half precision, rounded to nearest, ties to even.
func half(x float32) uint16 {
	b := math.Float32bits(x)
	sign := uint16(b >> 16 & 0x8000)
	exp := int(b>>23&0xff) - 127
	frac := b & (1<<23 - 1)
	switch {
	case exp == 128: // infinity or NaN
		if frac != 0 {
			return sign | 0x7e00
		}
		return sign | 0x7c00
	case exp > 15:
		return sign | 0x7c00
	case exp >= -14:
		return sign + uint16(roundShift(uint32(exp+15)<<23|frac, 13))
	case exp >= -25: // subnormal: the leading 1 becomes explicit
		return sign + uint16(roundShift(frac|1<<23, uint(-1-exp)))
	}
	return sign
}

// brainHalf returns the upper half of x, rounded to nearest, ties to even.
func brainHalf(x float32) uint16 {
	b := math.Float32bits(x)
	if x != x {
		return uint16(b>>16) | 0x40 // rounding must not turn it into an infinity
	}
	return uint16(roundShift(b, 16))
}

// roundShift shifts right, rounding to nearest, ties to even. A carry into the
// exponent correctly rounds up to the next power of two.
func roundShift(x uint32, n uint) uint32 {
	rest := x & (1<<n - 1)
	x >>= n
	if tie := uint32(1) << (n - 1); rest > tie || rest == tie && x&1 == 1 {
		x++
	}
	return x
}
