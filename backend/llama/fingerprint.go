package llama

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/stencil-json/stencil/vocab"
)

// sampled is how many bytes of a tensor are hashed at each of three places. A
// fine-tune of the same shape differs in nearly every block of the tensors that
// it touched, so a few hundred tensors with three samples each distinguish it,
// at the cost of reading a megabyte or two.
const sampled = 1024

// fingerprint hashes into h what distinguishes a model file from others: its
// parts' headers, with all metadata, names and shapes, their sizes, and samples
// from the start, the middle and the end of each tensor.
func fingerprint(h hash.Hash, path string) error {
	g, err := openPart(path)
	if err != nil {
		return err
	}
	parts, err := otherParts(path, g)
	if err != nil {
		return err
	}
	if err := fingerprintPart(h, path, g); err != nil {
		return err
	}
	for _, p := range parts {
		g, err := openPart(p)
		if err == nil {
			err = fingerprintPart(h, p, g)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func fingerprintPart(h hash.Hash, path string, g *vocab.GGUF) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("llama: %w", err)
	}
	defer f.Close()
	// The lengths come first, so that the hashed bytes are unambiguous.
	var lengths [16]byte
	binary.LittleEndian.PutUint64(lengths[:], uint64(g.DataOffset))
	binary.LittleEndian.PutUint64(lengths[8:], uint64(g.Size))
	h.Write(lengths[:])
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, g.DataOffset)); err != nil {
		return fmt.Errorf("llama: %s: %w", path, err)
	}
	for _, t := range g.Tensors {
		size := t.Size
		if size < 0 { // of a type that package vocab does not know
			size = sampled
		}
		n := min(size, sampled)
		for _, at := range [...]int64{0, (size - n) / 2, size - n} {
			if _, err := io.Copy(h, io.NewSectionReader(f, g.DataOffset+t.Offset+at, n)); err != nil {
				return fmt.Errorf("llama: %s: %w", path, err)
			}
		}
	}
	return nil
}

// stateKey identifies what a saved sequence depends on: the weights, the
// adapters and their scales, and rest.
func stateKey(path string, adapters []LoRA, rest ...any) (string, error) {
	h := sha256.New()
	if err := fingerprint(h, path); err != nil {
		return "", err
	}
	for _, l := range adapters {
		if err := fingerprint(h, l.Path); err != nil {
			return "", err
		}
		scale := l.Scale
		if scale == 0 {
			scale = 1
		}
		fmt.Fprintf(h, "scale %g\n", scale)
	}
	fmt.Fprintf(h, "%q\n", fmt.Sprint(rest...))
	return fmt.Sprintf("llama.cpp %x", h.Sum(nil)), nil
}
