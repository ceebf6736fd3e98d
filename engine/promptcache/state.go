package promptcache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// A State is the state of a model after some tokens, for a file named by the client.
type State struct {
	Key    string // states under equal keys are interchangeable; empty after ReadState, see Fits
	Tokens []int32
	Ends   []int32 // ends of the parts of the tokens that were computed in one way
	Kinds  []byte  // how each of these parts was computed
	Bytes  []byte
	sum    [sha256.Size]byte // of Key, from ReadState
}

// Fits reports whether a state belongs to the model with this key.
func (s *State) Fits(key string) bool {
	if s.Key != "" {
		return s.Key == key
	}
	return s.sum == sha256.Sum256([]byte(key))
}

// StateMagic begins the files of states. The rest is, little-endian: SHA-256 of the key, the
// CRC-32C of what follows, the numbers of tokens (4 bytes), of parts (4) and of the state's
// bytes (8), and these.
const StateMagic = "stslot01"

const stateHeader = 60

// Size returns the size of the file.
func (s *State) Size() int64 {
	return stateHeader + 4*int64(len(s.Tokens)) + 5*int64(len(s.Ends)) + int64(len(s.Bytes))
}

// WriteTo implements io.WriterTo.
func (s *State) WriteTo(w io.Writer) (int64, error) {
	sum := sha256.Sum256([]byte(s.Key))
	lists := make([]byte, 0, 16+4*len(s.Tokens)+5*len(s.Ends))
	lists = binary.LittleEndian.AppendUint32(lists, uint32(len(s.Tokens)))
	lists = binary.LittleEndian.AppendUint32(lists, uint32(len(s.Ends)))
	lists = binary.LittleEndian.AppendUint64(lists, uint64(len(s.Bytes)))
	for _, n := range slices.Concat(s.Tokens, s.Ends) {
		lists = binary.LittleEndian.AppendUint32(lists, uint32(n))
	}
	lists = append(lists, s.Kinds...)
	head := append([]byte(StateMagic), sum[:]...)
	head = binary.LittleEndian.AppendUint32(head, crc32.Update(crc32.Checksum(lists, castagnoli), castagnoli, s.Bytes))
	written := int64(0)
	for _, part := range [][]byte{head, lists, s.Bytes} {
		n, err := w.Write(part)
		if written += int64(n); err != nil {
			return written, err
		}
	}
	return written, nil
}

// ReadState reads a file. It returns an error if the file is incomplete or was changed.
func ReadState(file []byte) (*State, error) {
	const sums = len(StateMagic) + sha256.Size
	if len(file) < stateHeader || !bytes.HasPrefix(file, []byte(StateMagic)) {
		return nil, errors.New("promptcache: it is no file of a saved prompt")
	}
	if crc32.Checksum(file[sums+4:], castagnoli) != binary.LittleEndian.Uint32(file[sums:]) {
		return nil, errors.New("promptcache: the checksum of a saved prompt is wrong")
	}
	s := &State{sum: [sha256.Size]byte(file[len(StateMagic):])}
	counts, rest := file[sums+4:stateHeader], file[stateHeader:]
	tokens, ends, size := uint64(binary.LittleEndian.Uint32(counts)), uint64(binary.LittleEndian.Uint32(counts[4:])), binary.LittleEndian.Uint64(counts[8:])
	if lists := 4*tokens + 5*ends; uint64(len(rest)) < lists || uint64(len(rest))-lists != size {
		return nil, fmt.Errorf("promptcache: a saved prompt has %d bytes, which is not what its header says", len(file))
	}
	for _, list := range []struct {
		to *[]int32
		n  uint64
	}{{&s.Tokens, tokens}, {&s.Ends, ends}} {
		for range list.n {
			*list.to = append(*list.to, int32(binary.LittleEndian.Uint32(rest)))
			rest = rest[4:]
		}
	}
	s.Kinds, s.Bytes = rest[:ends:ends], rest[ends:]
	last := int32(0)
	for _, end := range s.Ends {
		if end <= last {
			return nil, errors.New("promptcache: the parts of a saved prompt are not in order")
		}
		last = end
	}
	if uint64(last) != tokens {
		return nil, errors.New("promptcache: the parts of a saved prompt are not the whole")
	}
	return s, nil
}
