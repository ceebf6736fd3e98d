package sampling

import (
	"math"

	"github.com/klauspost/cpuid/v2"
)

func bestPath() codePath {
	if cpuid.CPU.Supports(cpuid.AVX, cpuid.AVX2) {
		return pathAVX2
	}
	return pathGo
}

// largeAVX2 is large for words whole words that begin at *set and *logits.
//
//go:noescape
func largeAVX2(set *uint64, logits *float32, words int, floor float32) (n int, hits uint64)

// weighAVX2 is weighWord for 64 logits.
//
//go:noescape
func weighAVX2(w uint64, logits *float32, top, scale float32) float32

// spread holds the constants of weighAVX2: the coefficients and offsets of
// exp32 eight times over, and the bits of a set side by side.
var spread = struct {
	far, perLn2, shift [8]float32
	c                  [6][8]float32 // of f⁵ first
	bias               [8]uint32
	bit                [4][8]uint32
}{}

func init() {
	for i := range 8 {
		spread.far[i] = -farAway
		spread.perLn2[i] = expPerLn2
		spread.shift[i] = expShift
		for j, c := range [...]float32{expC5, expC4, expC3, expC2, expC1, 1} {
			spread.c[j][i] = c
		}
		spread.bias[i] = 127 - math.Float32bits(expShift)
		for j := range spread.bit {
			spread.bit[j][i] = 1 << (8*j + i)
		}
	}
}
