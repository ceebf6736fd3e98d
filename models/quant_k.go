package models

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// appendQ4K appends a block of 256 numbers in ggml's format Q4_K, 144 bytes:
//
//	2    d, half precision: the unit of the scales
//	2    m, half precision: the unit of the minima
//	12   a scale and a minimum, 6 bits each, for each 32 numbers
//	128  a quantum q, 4 bits, for each number, which is d·scale·q - m·minimum
func appendQ4K(dst []byte, x *[256]float32) []byte {
	var scale, low [8]float32
	var maxScale, maxLow float32
	for i := range scale {
		scale[i], low[i] = fitLine((*[32]float32)(x[32*i:]))
		maxScale, maxLow = max(maxScale, scale[i]), max(maxLow, low[i])
	}
	d, m := half(maxScale/63), half(maxLow/63)
	dst = binary.LittleEndian.AppendUint16(dst, d)
	dst = binary.LittleEndian.AppendUint16(dst, m)
	unit, unitLow := fromHalf(d), fromHalf(m)
	var s, l [8]byte
	for i := range s {
		s[i], l[i] = sixBits(scale[i], unit), sixBits(low[i], unitLow)
	}
	// The scales and minima of the first four are in bytes 0 to 7. Those of the
	// others are split: four bits in bytes 8 to 11, two above the first ones.
	var packed [12]byte
	for i := range 4 {
		packed[i] = s[i] | s[i+4]>>4<<6
		packed[i+4] = l[i] | l[i+4]>>4<<6
		packed[i+8] = s[i+4]&15 | l[i+4]<<4
	}
	dst = append(dst, packed[:]...)
	// Each byte holds a number and the one 32 after it.
	quantum := func(i int) byte {
		a, b := unit*float32(s[i/32]), unitLow*float32(l[i/32])
		if a == 0 {
			return 0
		}
		return byte(clampRound((x[i]+b)/a, 0, 15))
	}
	for i := 0; i < 256; i += 64 {
		for j := i; j < i+32; j++ {
			dst = append(dst, quantum(j)|quantum(j+32)<<4)
		}
	}
	return dst
}

// fitLine finds the scale a ≥ 0 and the minimum b ≥ 0 for which a·q - b
// approximates the numbers, q from 0 to 15: first so that the ends fit, then,
// if that is better, by least squares for these q.
func fitLine(x *[32]float32) (a, b float32) {
	lo, hi := min(x[0], 0), x[0]
	for _, v := range x {
		lo, hi = min(lo, v), max(hi, v)
	}
	a, b = (hi-lo)/15, -lo
	if a == 0 {
		return 0, b
	}
	var n, q1, q2, x1, xq float64
	for _, v := range x {
		q := float64(clampRound((v+b)/a, 0, 15))
		n, q1, q2 = n+1, q1+q, q2+q*q
		x1, xq = x1+float64(v), xq+float64(v)*q
	}
	det := n*q2 - q1*q1
	if det <= 0 {
		return a, b
	}
	a2 := float32((n*xq - q1*x1) / det)
	b2 := float32((q1*xq - q2*x1) / det)
	if a2 > 0 && b2 >= 0 && lineError(x, a2, b2) < lineError(x, a, b) {
		return a2, b2
	}
	return a, b
}

// lineError returns the sum of squared errors of a·q - b.
func lineError(x *[32]float32, a, b float32) (sum float64) {
	for _, v := range x {
		e := float64(a*float32(clampRound((v+b)/a, 0, 15)) - b - v)
		sum += e * e
	}
	return sum
}

// sixBits returns x in units, clamped to 6 bits.
func sixBits(x, unit float32) byte {
	if unit == 0 {
		return 0
	}
	return byte(clampRound(x/unit, 0, 63))
}

// appendQ6K appends a block of 256 numbers in ggml's format Q6_K, 210 bytes:
//
//	128  the lower 4 bits of the quanta
//	64   their upper 2 bits
//	16   a scale, 8 bits with sign, for each 16 numbers
//	2    d, half precision: a number is d·scale·(q-32)
func appendQ6K(dst []byte, x *[256]float32) []byte {
	var scale [16]float32
	var most float32 // of the scales, with sign
	for i := range scale {
		var extreme float32
		for _, v := range x[16*i : 16*i+16] {
			if abs(v) > abs(extreme) {
				extreme = v
			}
		}
		scale[i] = extreme / -32
		if abs(scale[i]) > abs(most) {
			most = scale[i]
		}
	}
	d := half(most / -128)
	unit := fromHalf(d)
	var s [16]int8
	var q [256]byte
	for i := range s {
		if unit != 0 {
			s[i] = int8(clampRound(scale[i]/unit, -128, 127))
		}
		a := unit * float32(s[i])
		for j := 16 * i; j < 16*i+16; j++ {
			q[j] = 32 // represents 0
			if a != 0 {
				q[j] = byte(clampRound(x[j]/a, -32, 31) + 32)
			}
		}
	}
	// Of each 128 numbers, byte j of the lower bits holds the numbers j and
	// j+64, byte j of the upper bits j, j+32, j+64 and j+96.
	for _, part := range [2][]byte{q[:128], q[128:]} {
		for j := range 64 {
			dst = append(dst, part[j]&15|part[j+64]<<4)
		}
	}
	for _, part := range [2][]byte{q[:128], q[128:]} {
		for j := range 32 {
			dst = append(dst, part[j]>>4|part[j+32]>>4<<2|part[j+64]>>4<<4|part[j+96]>>4<<6)
		}
	}
	for _, v := range s {
		dst = append(dst, byte(v))
	}
	return binary.LittleEndian.AppendUint16(dst, d)
}

// clampRound rounds to the nearest integer within bounds.
func clampRound(x float32, lo, hi int) int {
	return min(max(int(math.RoundToEven(float64(x))), lo), hi)
}

// typePicker returns a function that returns the type of a matrix, given its
// name and row length, in a model with these tensors. Except for the mixture
// it is always t.
func typePicker(t Type, names []string) func(name string, row int64) Type {
	if t != Q4_K_M {
		return func(string, int64) Type { return t }
	}
	// Which layers get more bits depends on the number of such matrices rather
	// than layers, since some layers have none.
	place := map[string][2]int{}
	var values, downs []string
	tied := true
	for _, name := range names {
		switch part := afterLayer(name); {
		case part == "attn_v.weight", part == "attn_qkv.weight", part == "attn_v_b.weight":
			values = append(values, name)
		case strings.HasPrefix(part, "ffn_down"):
			downs = append(downs, name)
		case name == "output.weight":
			tied = false
		}
	}
	for _, list := range [][]string{values, downs} {
		for i, name := range list {
			place[name] = [2]int{i, len(list)}
		}
	}
	return func(name string, row int64) Type {
		p, sensitive := place[name]
		switch {
		case row%32 != 0:
			return F16
		case row%256 != 0:
			return Q8_0
		case name == "output.weight", tied && name == "token_embd.weight", sensitive && moreBits(p[0], p[1]):
			return Q6_K
		}
		return Q4_K
	}
}

// moreBits reports which of n layers get more bits in llama.cpp's Q4_K_M: the
// first and last eighth, and every third between them (src/llama-quant.cpp).
func moreBits(i, n int) bool { return i < n/8 || i >= 7*n/8 || (i-n/8)%3 == 2 }

// afterLayer returns a tensor's name without its layer.
func afterLayer(name string) string {
	var i int
	var part string
	if n, _ := fmt.Sscanf(name, "blk.%d.%s", &i, &part); n == 2 {
		return part
	}
	return name
}
