//go:build !amd64

package sampling

func bestPath() codePath { return pathGo }

func largeAVX2(set *uint64, logits *float32, words int, floor float32) (n int, hits uint64) {
	panic("sampling: no AVX2")
}

func weighAVX2(w uint64, logits *float32, top, scale float32) float32 {
	panic("sampling: no AVX2")
}
