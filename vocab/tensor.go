package vocab

import (
	"errors"
	"fmt"
	"math"
)

// TensorInfo describes a tensor in a GGUF file.
type TensorInfo struct {
	Name   string
	Shape  []int64 // as in the file: the fastest-varying dimension first
	Type   TensorType
	Offset int64 // bytes from the file's DataOffset
	Size   int64 // bytes of data; -1 for an unknown type
}

// Elements returns the number of elements.
func (t TensorInfo) Elements() int64 {
	n := int64(1)
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// TensorType is the storage type of a tensor, as numbered by ggml.
type TensorType uint32

// tensorTypes lists ggml's storage types, with the elements and bytes of a block. Numbers that
// ggml no longer uses are empty.
var tensorTypes = [...]struct {
	name         string
	block, bytes int64
}{
	0: {"F32", 1, 4}, 1: {"F16", 1, 2},
	2: {"Q4_0", 32, 18}, 3: {"Q4_1", 32, 20}, 6: {"Q5_0", 32, 22}, 7: {"Q5_1", 32, 24}, 8: {"Q8_0", 32, 34}, 9: {"Q8_1", 32, 36},
	10: {"Q2_K", 256, 84}, 11: {"Q3_K", 256, 110}, 12: {"Q4_K", 256, 144}, 13: {"Q5_K", 256, 176}, 14: {"Q6_K", 256, 210}, 15: {"Q8_K", 256, 292},
	16: {"IQ2_XXS", 256, 66}, 17: {"IQ2_XS", 256, 74}, 18: {"IQ3_XXS", 256, 98}, 19: {"IQ1_S", 256, 50}, 20: {"IQ4_NL", 32, 18},
	21: {"IQ3_S", 256, 110}, 22: {"IQ2_S", 256, 82}, 23: {"IQ4_XS", 256, 136},
	24: {"I8", 1, 1}, 25: {"I16", 1, 2}, 26: {"I32", 1, 4}, 27: {"I64", 1, 8}, 28: {"F64", 1, 8}, 29: {"IQ1_M", 256, 56}, 30: {"BF16", 1, 2},
	34: {"TQ1_0", 256, 54}, 35: {"TQ2_0", 256, 66}, 39: {"MXFP4", 32, 17}, 40: {"NVFP4", 64, 36},
	41: {"Q1_0", 128, 18}, 42: {"Q2_0", 64, 18},
}

// String returns ggml's name of the type, such as "Q8_0".
func (t TensorType) String() string {
	if int(t) < len(tensorTypes) && tensorTypes[t].name != "" {
		return tensorTypes[t].name
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// size returns the bytes of a tensor, or -1 for an unknown type.
func (t TensorType) size(shape []int64) (int64, error) {
	if int(t) >= len(tensorTypes) || tensorTypes[t].name == "" {
		return -1, nil
	}
	info := tensorTypes[t]
	if shape[0]%info.block != 0 {
		return 0, fmt.Errorf("a row of %d elements is not a multiple of the %d in a block of %s", shape[0], info.block, info.name)
	}
	n := int64(1)
	for _, d := range shape {
		if n > math.MaxInt64/info.bytes/max(d, 1) {
			return 0, errors.New("tensor is too large")
		}
		n *= d
	}
	return n / info.block * info.bytes, nil
}

func (d *ggufReader) tensor(g *GGUF) error {
	const maxDims = 4 // ggml's
	at := d.off
	name, err := d.str(ggufMaxKey)
	if err != nil {
		return err
	}
	fail := func(cause error) error { return &GGUFError{at, fmt.Errorf("tensor %.80q: %w", name, cause)} }
	dims, err := d.u32()
	if err != nil {
		return fail(err)
	}
	if dims == 0 || dims > maxDims {
		return fail(fmt.Errorf("%d dimensions, expected 1 to %d", dims, maxDims))
	}
	t := TensorInfo{Name: name, Shape: make([]int64, dims)}
	elements := int64(1)
	for i := range t.Shape {
		n, err := d.u64()
		if err != nil {
			return fail(err)
		}
		if n > math.MaxInt64 || (n > 0 && elements > math.MaxInt64/int64(n)) {
			return fail(fmt.Errorf("dimension %d is %d, too large", i, n))
		}
		t.Shape[i] = int64(n)
		elements *= max(int64(n), 1)
	}
	typ, err := d.u32()
	if err != nil {
		return fail(err)
	}
	t.Type = TensorType(typ)
	if t.Size, err = t.Type.size(t.Shape); err != nil {
		return fail(err)
	}
	off, err := d.u64()
	if err != nil {
		return fail(err)
	}
	if off > math.MaxInt64 || int64(off)%g.Alignment != 0 {
		return fail(fmt.Errorf("offset %d is not a multiple of the alignment %d", off, g.Alignment))
	}
	t.Offset = int64(off)
	g.Tensors = append(g.Tensors, t)
	return nil
}

// CheckTensors returns an error for the first tensor whose data is not within the file, as
// after an incomplete download.
func (g *GGUF) CheckTensors() error {
	for _, t := range g.Tensors {
		if t.Size < 0 {
			continue
		}
		room := g.Size - g.DataOffset - t.Offset
		if t.Offset > g.Size || room < t.Size {
			return &GGUFError{g.Size, fmt.Errorf("tensor %.80q needs %d bytes at %d, but the file ends before: %w",
				t.Name, t.Size, g.DataOffset+t.Offset, ErrTruncated)}
		}
	}
	return nil
}
