//go:build llama && cgo

package llama

// #include "shim.h"
import "C"

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"strings"

	"github.com/stencil-json/stencil/backend"
)

// A saved sequence is a header and what llama.cpp writes. llama.cpp trusts
// what it reads, hence the header (little-endian):
//
//	0   8  "stencil1"
//	8   8  fingerprint of the model, the cache type and whether flash attention is off
//	16  8  length of the rest in bytes
//	24  4  number of tokens
//	28  4  CRC-32C of the rest
const stateHeader = 32

const stateMagic = "stencil1"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// fingerprint identifies what a state depends on. Without flash attention the values
// are stored transposed.
func (c *cContext) fingerprint() uint64 {
	h := fnv.New64a()
	i := c.model.info
	fmt.Fprintln(h, i.Architecture, i.Name, i.Parameters, i.Bytes, i.Layers, i.Width, i.KVHeads, c.n, c.p.CacheType, c.p.FlashAttention == backend.FlashOff)
	if size := c.rotation(); size > 0 {
		fmt.Fprintln(h, size)
	}
	return h.Sum64()
}

// SeqState implements backend.Context.
func (c *cContext) SeqState(seq int32) ([]byte, error) {
	if c.ptr == nil {
		return nil, backend.ErrClosed
	}
	tokens := c.lens[seq]
	n := int(C.stencil_state_size(c.ptr, C.int32_t(seq)))
	out := make([]byte, stateHeader+n)
	if n > 0 {
		got := C.stencil_state_get(c.ptr, C.int32_t(seq), (*C.uint8_t)(&out[stateHeader]), C.size_t(n))
		if int(got) != n {
			return nil, fmt.Errorf("llama: state of sequence %d: %d bytes written, %d announced", seq, int(got), n)
		}
	}
	copy(out, stateMagic)
	binary.LittleEndian.PutUint64(out[8:], c.fingerprint())
	binary.LittleEndian.PutUint64(out[16:], uint64(n))
	binary.LittleEndian.PutUint32(out[24:], uint32(tokens))
	binary.LittleEndian.PutUint32(out[28:], crc32.Checksum(out[stateHeader:], castagnoli))
	return out, nil
}

// SetSeqState implements backend.Context.
func (c *cContext) SetSeqState(seq int32, state []byte) error {
	if c.ptr == nil {
		return backend.ErrClosed
	}
	c.SeqRemove(seq, 0, -1)
	switch {
	case len(state) < stateHeader || string(state[:8]) != stateMagic:
		return fmt.Errorf("%w: it has no header", backend.ErrState)
	case binary.LittleEndian.Uint64(state[8:]) != c.fingerprint():
		return fmt.Errorf("%w: it was saved with another model, cache type or setting of flash attention, or with LongRoPE another size of the context", backend.ErrState)
	case binary.LittleEndian.Uint64(state[16:]) != uint64(len(state)-stateHeader):
		return fmt.Errorf("%w: its length is wrong", backend.ErrState)
	}
	tokens, data := binary.LittleEndian.Uint32(state[24:]), state[stateHeader:]
	if crc32.Checksum(data, castagnoli) != binary.LittleEndian.Uint32(state[28:]) {
		return fmt.Errorf("%w: its checksum is wrong", backend.ErrState)
	}
	if tokens == 0 {
		return nil
	}
	for {
		var got C.size_t
		said := collectErrors(func() {
			got = C.stencil_state_set(c.ptr, C.int32_t(seq), (*C.uint8_t)(&data[0]), C.size_t(len(data)))
		})
		c.resync()
		switch {
		case got != 0:
			return nil
		case c.hasRoom(int64(tokens)):
			return fmt.Errorf("%w: llama.cpp does not take it: %s", backend.ErrState, clean(strings.Join(said, "; ")))
		case !c.Grow(false):
			return fmt.Errorf("%w: a saved sequence has %d tokens", backend.ErrNoSlot, tokens)
		}
	}
}

// hasRoom reports whether n tokens certainly fit into the cells. If sequences share
// cells there may be more room than it reports.
func (c *cContext) hasRoom(n int64) bool {
	for _, used := range c.lens {
		n += int64(used)
	}
	return n <= int64(c.cells)
}
