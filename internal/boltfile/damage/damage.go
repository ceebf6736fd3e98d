// Package damage damages bbolt files, to test code that reads them.
package damage

import (
	"bytes"
	"encoding/binary"
	"hash/fnv"
	"math/rand/v2"
)

var order = binary.NativeEndian

// some are typical values of damaged numbers.
var some = []uint64{0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 255, 4096, 1 << 15, 0xFFFE, 0xFFFF, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 40, 1 << 63, 1<<64 - 1}

// Make returns a damaged copy of a file with the given page size: truncated, with flipped bits, or with wrong numbers
// in headers, elements and lists. Sometimes the checksums of the first two pages are corrected.
func Make(r *rand.Rand, file []byte, pageSize int) []byte {
	out := bytes.Clone(file)
	pages := len(out) / pageSize
	for range 1 + r.IntN(3) {
		page := out[r.IntN(pages)*pageSize:][:pageSize]
		switch r.IntN(8) {
		case 0:
			return out[:r.IntN(len(out))]
		case 1:
			return out[:r.IntN(pages)*pageSize]
		case 2:
			out[r.IntN(len(out))] ^= 1 << r.IntN(8)
		case 3: // the header of a page
			put(r, page[[]int{0, 8, 10, 12}[r.IntN(4)]:])
		case 4: // an element, an entry of the free list, or a number in the description of the file
			put(r, page[16+4*r.IntN(60):])
		case 5:
			copy(page, out[r.IntN(pages)*pageSize:][:pageSize])
		case 6:
			clear(page[r.IntN(pageSize):])
		case 7:
			put(r, out[r.IntN(2)*pageSize+16+4*r.IntN(14):])
		}
	}
	if r.IntN(2) == 0 {
		for i := range min(2, pages) {
			at := out[i*pageSize+16:]
			sum := fnv.New64a()
			sum.Write(at[:56])
			order.PutUint64(at[56:], sum.Sum64())
		}
	}
	return out
}

// put overwrites a number of random length.
func put(r *rand.Rand, at []byte) {
	n := some[r.IntN(len(some))]
	if r.IntN(2) == 0 {
		n = r.Uint64N(40)
	}
	switch r.IntN(4) {
	case 0:
		order.PutUint16(at, uint16(n))
	case 1:
		order.PutUint32(at, uint32(n))
	case 2:
		order.PutUint64(at, n)
	case 3:
		at[0] ^= 1 << r.IntN(8)
	}
}
