package promptcache

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// header is the number of bytes before the tokens.
const header = 56

const magic = "stprmpt1"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// fileSize returns the size of the file of a state.
func fileSize(tokens, state int) int64 { return header + 4*int64(tokens) + int64(state) }

// encode writes a file. The state is not copied.
func encode(w io.Writer, model [sha256.Size]byte, tokens []int32, state []byte) error {
	head := make([]byte, header, header+4*len(tokens))
	copy(head, magic)
	copy(head[8:], model[:])
	binary.LittleEndian.PutUint32(head[40:], uint32(len(tokens)))
	binary.LittleEndian.PutUint64(head[48:], uint64(len(state)))
	for _, t := range tokens {
		head = binary.LittleEndian.AppendUint32(head, uint32(t))
	}
	binary.LittleEndian.PutUint32(head[44:], checksum(head, state))
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err := w.Write(state)
	return err
}

// checksum covers all of a file except itself.
func checksum(head, rest []byte) uint32 {
	sum := crc32.Update(0, castagnoli, head[:44])
	sum = crc32.Update(sum, castagnoli, head[48:])
	return crc32.Update(sum, castagnoli, rest)
}

// decode returns the state in a file's bytes, which must belong to these tokens
// of this model.
func decode(file []byte, model [sha256.Size]byte, tokens []int32) ([]byte, error) {
	if len(file) < header || string(file[:8]) != magic {
		return nil, errors.New("it has no header")
	}
	count, length := binary.LittleEndian.Uint32(file[40:]), binary.LittleEndian.Uint64(file[48:])
	at := header + 4*uint64(count)
	if uint64(len(file)) < at || uint64(len(file))-at != length {
		return nil, fmt.Errorf("it has %d bytes, which is not what its header says", len(file))
	}
	if checksum(file[:header], file[header:]) != binary.LittleEndian.Uint32(file[44:]) {
		return nil, errors.New("its checksum is wrong")
	}
	if [sha256.Size]byte(file[8:40]) != model {
		return nil, errors.New("it belongs to another model")
	}
	if int(count) != len(tokens) {
		return nil, fmt.Errorf("it is of %d tokens, its name says %d", count, len(tokens))
	}
	for i, t := range tokens {
		if binary.LittleEndian.Uint32(file[header+4*i:]) != uint32(t) {
			return nil, fmt.Errorf("token %d is another one than its name says", i)
		}
	}
	return file[at:], nil
}
