package models

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/stencil-json/stencil/vocab"
)

// alignment is the alignment of tensor data in bytes, the format's default.
const alignment = 32

// A Writer writes a GGUF file, version 3: first keys, then tensors, each in
// the order in which they were added.
type Writer struct {
	keys    []byte
	nKeys   uint64
	tensors []tensor
}

// tensor is a tensor to be written, with its shape and the source of its
// data.
type tensor struct {
	name  string
	typ   Type
	shape []int64 // the fastest-varying dimension first
	fill  func(row []float32)
}

// String adds a key with a string.
func (w *Writer) String(key, value string) {
	w.key(key, vocab.TypeString)
	w.keys = appendString(w.keys, value)
}

// Uint32 adds a key with an unsigned number.
func (w *Writer) Uint32(key string, value uint32) {
	w.key(key, vocab.TypeUint32)
	w.keys = binary.LittleEndian.AppendUint32(w.keys, value)
}

// Float32 adds a key with a floating point number.
func (w *Writer) Float32(key string, value float32) {
	w.key(key, vocab.TypeFloat32)
	w.keys = binary.LittleEndian.AppendUint32(w.keys, math.Float32bits(value))
}

// Bool adds a key with a boolean.
func (w *Writer) Bool(key string, value bool) {
	w.key(key, vocab.TypeBool)
	b := byte(0)
	if value {
		b = 1
	}
	w.keys = append(w.keys, b)
}

// Strings adds a key with an array of strings.
func (w *Writer) Strings(key string, values []string) {
	w.array(key, vocab.TypeString, len(values))
	for _, s := range values {
		w.keys = appendString(w.keys, s)
	}
}

// Int32s adds a key with an array of numbers.
func (w *Writer) Int32s(key string, values []int32) {
	w.array(key, vocab.TypeInt32, len(values))
	for _, n := range values {
		w.keys = binary.LittleEndian.AppendUint32(w.keys, uint32(n))
	}
}

// Bools adds a key with an array of booleans.
func (w *Writer) Bools(key string, values []bool) {
	w.array(key, vocab.TypeBool, len(values))
	for _, v := range values {
		b := byte(0)
		if v {
			b = 1
		}
		w.keys = append(w.keys, b)
	}
}

// Value adds a key with a value read from another file.
func (w *Writer) Value(key string, v vocab.Value) error {
	switch v.Type {
	case vocab.TypeString:
		s, _ := v.Str()
		w.String(key, s)
	case vocab.TypeBool:
		b, _ := v.Bool()
		w.Bool(key, b)
	case vocab.TypeArray:
		w.array(key, v.Elem, v.Len())
		if list, ok := v.Strings(); ok {
			for i := range list.Len() {
				w.keys = appendString(w.keys, list.At(i))
			}
		} else {
			raw, _ := v.Raw()
			w.keys = append(w.keys, raw...)
		}
	case vocab.TypeFloat32:
		f, _ := v.Float()
		w.Float32(key, float32(f))
	case vocab.TypeFloat64:
		f, _ := v.Float()
		w.key(key, v.Type)
		w.keys = binary.LittleEndian.AppendUint64(w.keys, math.Float64bits(f))
	default:
		n, ok := v.Int()
		if !ok {
			return fmt.Errorf("models: key %q: a value of type %s cannot be copied", key, v.Type)
		}
		w.key(key, v.Type)
		switch v.Type {
		case vocab.TypeUint8, vocab.TypeInt8:
			w.keys = append(w.keys, byte(n))
		case vocab.TypeUint16, vocab.TypeInt16:
			w.keys = binary.LittleEndian.AppendUint16(w.keys, uint16(n))
		case vocab.TypeUint32, vocab.TypeInt32:
			w.keys = binary.LittleEndian.AppendUint32(w.keys, uint32(n))
		default:
			w.keys = binary.LittleEndian.AppendUint64(w.keys, uint64(n))
		}
	}
	return nil
}

func (w *Writer) key(key string, t vocab.ValueType) {
	w.nKeys++
	w.keys = appendString(w.keys, key)
	w.keys = binary.LittleEndian.AppendUint32(w.keys, uint32(t))
}

func (w *Writer) array(key string, elem vocab.ValueType, n int) {
	w.key(key, vocab.TypeArray)
	w.keys = binary.LittleEndian.AppendUint32(w.keys, uint32(elem))
	w.keys = binary.LittleEndian.AppendUint64(w.keys, uint64(n))
}

func appendString(dst []byte, s string) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(s)))
	return append(dst, s...)
}

// Tensor adds a tensor. While the file is written, fill is called for each
// row in order (shape[0] elements) and must set all of its elements.
func (w *Writer) Tensor(name string, t Type, shape []int64, fill func(row []float32)) error {
	if _, err := t.rowBytes(shape[0]); err != nil {
		return fmt.Errorf("models: tensor %s: %w", name, err)
	}
	w.tensors = append(w.tensors, tensor{name, t, shape, fill})
	return nil
}

// rows returns the number of rows of a tensor.
func (t *tensor) rows() int64 {
	n := int64(1)
	for _, d := range t.shape[1:] {
		n *= d
	}
	return n
}

func (t *tensor) bytes() int64 {
	row, _ := t.typ.rowBytes(t.shape[0]) // checked by Tensor
	return row * t.rows()
}

// Write writes the file. progress, if not nil, is called with the fraction
// done, from 0 to 1.
func (w *Writer) Write(out io.Writer, progress func(done float64)) error {
	b := bufio.NewWriterSize(out, 1<<20)
	head := []byte("GGUF\x03\x00\x00\x00")
	head = binary.LittleEndian.AppendUint64(head, uint64(len(w.tensors)))
	head = binary.LittleEndian.AppendUint64(head, w.nKeys)
	head = append(head, w.keys...)
	var offset int64
	for i := range w.tensors {
		t := &w.tensors[i]
		head = appendString(head, t.name)
		head = binary.LittleEndian.AppendUint32(head, uint32(len(t.shape)))
		for _, d := range t.shape {
			head = binary.LittleEndian.AppendUint64(head, uint64(d))
		}
		head = binary.LittleEndian.AppendUint32(head, t.typ.ggml())
		head = binary.LittleEndian.AppendUint64(head, uint64(offset))
		offset = align(offset + t.bytes())
	}
	head = append(head, make([]byte, align(int64(len(head)))-int64(len(head)))...)
	b.Write(head) // b keeps an error and Flush returns it

	total, done := offset, int64(0)
	var row []float32
	var enc []byte
	for i := range w.tensors {
		t := &w.tensors[i]
		row = resize(row, int(t.shape[0]))
		for range t.rows() {
			t.fill(row)
			enc = t.typ.Append(enc[:0], row)
			if _, err := b.Write(enc); err != nil {
				return fmt.Errorf("models: tensor %s: %w", t.name, err)
			}
		}
		n := t.bytes()
		b.Write(make([]byte, align(n)-n))
		done += align(n)
		if progress != nil {
			progress(float64(done) / float64(total))
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("models: %w", err)
	}
	return nil
}

func resize(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}

func align(n int64) int64 { return (n + alignment - 1) / alignment * alignment }
