package vocab

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"unsafe"
)

// GGUF is the header of a GGUF file: keys, values and the location of each tensor. It is
// immutable after reading and safe for concurrent use.
type GGUF struct {
	Version    uint32 // 2 or 3
	Alignment  int64  // bytes; tensor data is aligned to it
	DataOffset int64  // start of the tensor data, in bytes from the start of the file
	Size       int64  // of the whole file, in bytes
	Pairs      []Pair // in file order
	Tensors    []TensorInfo

	byKey map[string]int32
}

// Pair is one key of a GGUF file and its value.
type Pair struct {
	Key   string
	Value Value
}

// ValueType is the type of a GGUF value, as numbered in the file.
type ValueType uint32

// The types of values in a GGUF file.
const (
	TypeUint8 ValueType = iota
	TypeInt8
	TypeUint16
	TypeInt16
	TypeUint32
	TypeInt32
	TypeFloat32
	TypeBool
	TypeString
	TypeArray
	TypeUint64
	TypeInt64
	TypeFloat64
)

var ggufTypes = [...]struct {
	name string
	size int64 // bytes of one value; 0 if variable
}{
	TypeUint8: {"uint8", 1}, TypeInt8: {"int8", 1}, TypeUint16: {"uint16", 2}, TypeInt16: {"int16", 2},
	TypeUint32: {"uint32", 4}, TypeInt32: {"int32", 4}, TypeFloat32: {"float32", 4}, TypeBool: {"bool", 1},
	TypeString: {"string", 0}, TypeArray: {"array", 0},
	TypeUint64: {"uint64", 8}, TypeInt64: {"int64", 8}, TypeFloat64: {"float64", 8},
}

// String returns the type's name, such as "uint32".
func (t ValueType) String() string {
	if int(t) < len(ggufTypes) {
		return ggufTypes[t].name
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// Value is one value of a GGUF file. An array is kept in the format of the file (numbers) or as
// one block of text (strings), so that a vocabulary costs no allocation per token.
type Value struct {
	Type ValueType
	Elem ValueType // of an array

	bits    uint64  // bits of a number or boolean
	text    string  // a string
	raw     []byte  // an array of numbers, little-endian
	strings Strings // an array of strings
	n       int     // length of an array
}

// Strings is an immutable list of strings, stored in one block.
type Strings struct {
	data string
	ends []uint32 // where each string ends in data
}

// Len returns the number of strings.
func (s Strings) Len() int { return len(s.ends) }

// At returns the i-th string. It does not allocate.
func (s Strings) At(i int) string {
	var start uint32
	if i > 0 {
		start = s.ends[i-1]
	}
	return s.data[start:s.ends[i]]
}

// Len returns the number of elements of an array, and 0 for any other value.
func (v Value) Len() int { return v.n }

// Str returns the value as a string.
func (v Value) Str() (string, bool) { return v.text, v.Type == TypeString }

// Bool returns the value as a boolean.
func (v Value) Bool() (bool, bool) { return v.bits != 0, v.Type == TypeBool }

// Int returns the value as an integer, regardless of its width in the file. It returns false
// for values that are not integers or do not fit.
func (v Value) Int() (int64, bool) {
	switch v.Type {
	case TypeUint8, TypeUint16, TypeUint32, TypeUint64:
		return int64(v.bits), v.bits <= math.MaxInt64
	case TypeInt8, TypeInt16, TypeInt32, TypeInt64:
		return int64(v.bits), true
	}
	return 0, false
}

// Float returns the value as a floating point number.
func (v Value) Float() (float64, bool) {
	switch v.Type {
	case TypeFloat32:
		return float64(math.Float32frombits(uint32(v.bits))), true
	case TypeFloat64:
		return math.Float64frombits(v.bits), true
	}
	return 0, false
}

// Strings returns the elements of an array of strings.
func (v Value) Strings() (Strings, bool) {
	return v.strings, v.Type == TypeArray && v.Elem == TypeString
}

// Raw returns the bytes of an array of numbers as they are in the file, little-endian. They are
// shared and read-only.
func (v Value) Raw() ([]byte, bool) {
	return v.raw, v.Type == TypeArray && v.Elem != TypeString
}

// At returns the i-th element of an array as a value.
func (v Value) At(i int) Value {
	if v.Elem == TypeString {
		return Value{Type: TypeString, text: v.strings.At(i)}
	}
	size := int(ggufTypes[v.Elem].size)
	return Value{Type: v.Elem, bits: ggufBits(v.Elem, v.raw[i*size:(i+1)*size])}
}

// String formats the value; arrays are truncated after a few elements.
func (v Value) String() string {
	switch v.Type {
	case TypeString:
		return v.text
	case TypeBool:
		return fmt.Sprint(v.bits != 0)
	case TypeFloat32, TypeFloat64:
		f, _ := v.Float()
		return fmt.Sprint(f)
	case TypeUint64:
		return fmt.Sprint(v.bits)
	case TypeArray:
		const shown = 6 // enough to show what an array holds
		out := fmt.Sprintf("%d × %s [", v.n, v.Elem)
		for i := 0; i < min(v.n, shown); i++ {
			if i > 0 {
				out += ", "
			}
			out += v.At(i).String()
		}
		if v.n > shown {
			out += ", …"
		}
		return out + "]"
	}
	n, _ := v.Int()
	return fmt.Sprint(n)
}

// Get returns the value of a key.
func (g *GGUF) Get(key string) (Value, bool) {
	if i, ok := g.byKey[key]; ok {
		return g.Pairs[i].Value, true
	}
	return Value{}, false
}

// Str returns the string under key, or "" if there is none.
func (g *GGUF) Str(key string) string {
	v, _ := g.Get(key)
	s, _ := v.Str()
	return s
}

// Int returns the integer under key.
func (g *GGUF) Int(key string) (int64, bool) {
	v, ok := g.Get(key)
	if !ok {
		return 0, false
	}
	return v.Int()
}

// Bool returns the boolean under key.
func (g *GGUF) Bool(key string) (value, ok bool) {
	v, ok := g.Get(key)
	if !ok {
		return false, false
	}
	return v.Bool()
}

// Limits on what a file may announce. They are far above any real model and far below what
// would exhaust memory; everything else is bounded by the length of the file.
const (
	ggufMaxKey     = 65535   // bytes; the format's own limit
	ggufMaxPairs   = 1 << 20 // keys
	ggufMaxTensors = 1 << 22
	ggufMaxText    = 1<<32 - 1 // bytes in one array of strings
	ggufMaxAlign   = 1 << 30
	ggufMagic      = 0x46554747 // "GGUF", little-endian
)

// GGUFError reports where and why reading a GGUF file failed.
type GGUFError struct {
	Offset int64 // in bytes from the start of the file
	Cause  error
}

// Error returns the message with the offset.
func (e *GGUFError) Error() string {
	return fmt.Sprintf("vocab: gguf: at byte %d: %v", e.Offset, e.Cause)
}

// Unwrap returns the cause.
func (e *GGUFError) Unwrap() error { return e.Cause }

// ErrTruncated is the cause if a GGUF file is shorter than its header says.
var ErrTruncated = errors.New("file is truncated")

// special returns a name for a file that isn't regular.
func special(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeNamedPipe != 0:
		return "pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}

// OpenGGUF reads the header of the file at path. It doesn't read tensor data.
func OpenGGUF(path string) (*GGUF, error) {
	// Opening a pipe would block until another process writes to it.
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("vocab: %w", err)
	case st.IsDir():
		return nil, fmt.Errorf("vocab: %s: is a folder, not a GGUF file", path)
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("vocab: %s: is a %s, not a GGUF file", path, special(st.Mode()))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("vocab: %w", err)
	}
	defer f.Close()
	g, err := ReadGGUF(f, st.Size())
	if err != nil {
		return nil, fmt.Errorf("%w (%s)", err, path)
	}
	return g, nil
}

// ReadGGUF reads the header of a GGUF file of size bytes from its start. Its allocations are
// bounded by what it has read, regardless of lengths in the file. Errors are *GGUFError.
func ReadGGUF(r io.Reader, size int64) (*GGUF, error) {
	d := &ggufReader{r: bufio.NewReaderSize(r, 1<<16), size: size}
	g, err := d.file()
	if err != nil {
		var ge *GGUFError
		if errors.As(err, &ge) {
			return nil, err
		}
		return nil, &GGUFError{Offset: d.off, Cause: err}
	}
	return g, nil
}

type ggufReader struct {
	r         *bufio.Reader
	off, size int64
}

// next returns the next n bytes, which are valid until the next call. n must not exceed the
// buffer's size.
func (d *ggufReader) next(n int) ([]byte, error) {
	if int64(n) > d.size-d.off {
		return nil, ErrTruncated
	}
	b, err := d.r.Peek(n)
	if err != nil {
		if err == io.EOF {
			err = ErrTruncated
		}
		return nil, err
	}
	d.r.Discard(n) // cannot fail: the bytes are in the buffer
	d.off += int64(n)
	return b, nil
}

func (d *ggufReader) u32() (uint32, error) {
	b, err := d.next(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (d *ggufReader) u64() (uint64, error) {
	b, err := d.next(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// count reads a number of elements, each of which takes at least least bytes.
func (d *ggufReader) count(what string, least, limit int64) (int, error) {
	at := d.off
	n, err := d.u64()
	if err != nil {
		return 0, err
	}
	if n > uint64(limit) {
		return 0, &GGUFError{at, fmt.Errorf("%s: %d is more than the limit %d", what, n, limit)}
	}
	if int64(n) > (d.size-d.off)/least {
		return 0, &GGUFError{at, fmt.Errorf("%s: %d do not fit into the %d bytes that follow: %w", what, n, d.size-d.off, ErrTruncated)}
	}
	return int(n), nil
}

// appendBytes appends the next n bytes to dst, in steps, so that a wrong length doesn't
// allocate memory.
func (d *ggufReader) appendBytes(dst []byte, n int64) ([]byte, error) {
	for n > 0 {
		step := int(min(n, 1<<15))
		b, err := d.next(step)
		if err != nil {
			return dst, err
		}
		dst = append(dst, b...)
		n -= int64(step)
	}
	return dst, nil
}

func (d *ggufReader) str(limit int64) (string, error) {
	n, err := d.count("length of a string", 1, limit)
	if err != nil {
		return "", err
	}
	b, err := d.appendBytes(nil, int64(n))
	return string(b), err
}

func (d *ggufReader) file() (*GGUF, error) {
	magic, err := d.u32()
	if err != nil {
		return nil, err
	}
	if magic != ggufMagic {
		return nil, &GGUFError{0, fmt.Errorf("not a GGUF file: it begins with %q", binary.LittleEndian.AppendUint32(nil, magic))}
	}
	g := &GGUF{Size: d.size, Alignment: 32, byKey: map[string]int32{}}
	if g.Version, err = d.u32(); err != nil {
		return nil, err
	}
	switch {
	case g.Version == 2 || g.Version == 3:
	case g.Version&0xffff == 0:
		return nil, &GGUFError{4, errors.New("file is big-endian, which is not supported")}
	default:
		return nil, &GGUFError{4, fmt.Errorf("version %d is not supported, only 2 and 3", g.Version)}
	}
	nTensors, err := d.count("number of tensors", 24, ggufMaxTensors)
	if err != nil {
		return nil, err
	}
	nPairs, err := d.count("number of keys", 13, ggufMaxPairs)
	if err != nil {
		return nil, err
	}
	for range nPairs {
		if err := d.pair(g); err != nil {
			return nil, err
		}
	}
	if v, ok := g.Get("general.alignment"); ok {
		n, ok := v.Int()
		if !ok || v.Type != TypeUint32 || n <= 0 || n > ggufMaxAlign || n&(n-1) != 0 {
			return nil, fmt.Errorf("general.alignment is %.80s, not a power of two as uint32", v)
		}
		g.Alignment = n
	}
	for range nTensors {
		if err := d.tensor(g); err != nil {
			return nil, err
		}
	}
	g.DataOffset = (d.off + g.Alignment - 1) &^ (g.Alignment - 1)
	return g, nil
}

func (d *ggufReader) pair(g *GGUF) error {
	at := d.off
	key, err := d.str(ggufMaxKey)
	if err != nil {
		return err
	}
	if _, ok := g.byKey[key]; ok {
		return &GGUFError{at, fmt.Errorf("duplicate key %.80q", key)}
	}
	v, err := d.value()
	if err != nil {
		var ge *GGUFError
		if errors.As(err, &ge) {
			ge.Cause = fmt.Errorf("key %.80q: %w", key, ge.Cause)
			return ge
		}
		return fmt.Errorf("key %.80q: %w", key, err)
	}
	g.byKey[key] = int32(len(g.Pairs))
	g.Pairs = append(g.Pairs, Pair{key, v})
	return nil
}

func (d *ggufReader) value() (Value, error) {
	at := d.off
	t, err := d.u32()
	if err != nil {
		return Value{}, err
	}
	v := Value{Type: ValueType(t)}
	switch {
	case int(t) >= len(ggufTypes):
		return v, &GGUFError{at, fmt.Errorf("unknown value type %d", t)}
	case v.Type == TypeString:
		v.text, err = d.str(math.MaxInt32)
	case v.Type == TypeArray:
		err = d.array(&v)
	default:
		var b []byte
		if b, err = d.next(int(ggufTypes[t].size)); err == nil {
			v.bits = ggufBits(v.Type, b)
		}
	}
	return v, err
}

func (d *ggufReader) array(v *Value) error {
	at := d.off
	t, err := d.u32()
	if err != nil {
		return err
	}
	v.Elem = ValueType(t)
	switch {
	case int(t) >= len(ggufTypes):
		return &GGUFError{at, fmt.Errorf("unknown type %d of array elements", t)}
	case v.Elem == TypeArray:
		return &GGUFError{at, errors.New("arrays of arrays are not supported")}
	case v.Elem == TypeString:
		if v.n, err = d.count("length of an array", 8, math.MaxInt32); err != nil {
			return err
		}
		v.strings, err = d.stringArray(v.n)
		return err
	}
	size := ggufTypes[t].size
	if v.n, err = d.count("length of an array", size, math.MaxInt32); err != nil {
		return err
	}
	v.raw, err = d.appendBytes(nil, int64(v.n)*size)
	return err
}

func (d *ggufReader) stringArray(n int) (Strings, error) {
	// Most strings of vocabularies are short; both slices grow only as text is read.
	data := make([]byte, 0, min(n*8, 1<<20))
	ends := make([]uint32, 0, min(n, 1<<16))
	for range n {
		at := d.off
		size, err := d.count("length of a string", 1, math.MaxInt32)
		if err != nil {
			return Strings{}, err
		}
		if int64(len(data))+int64(size) > ggufMaxText {
			return Strings{}, &GGUFError{at, errors.New("strings of an array are longer than 4 GiB together")}
		}
		if data, err = d.appendBytes(data, int64(size)); err != nil {
			return Strings{}, err
		}
		ends = append(ends, uint32(len(data)))
	}
	// data is not modified any more, so the string may share its memory.
	return Strings{data: unsafe.String(unsafe.SliceData(data), len(data)), ends: ends}, nil
}

// ggufBits reads one number and extends it to 64 bits.
func ggufBits(t ValueType, b []byte) uint64 {
	switch t {
	case TypeInt8:
		return uint64(int64(int8(b[0])))
	case TypeUint8, TypeBool:
		return uint64(b[0])
	case TypeUint16:
		return uint64(binary.LittleEndian.Uint16(b))
	case TypeInt16:
		return uint64(int64(int16(binary.LittleEndian.Uint16(b))))
	case TypeUint32, TypeFloat32:
		return uint64(binary.LittleEndian.Uint32(b))
	case TypeInt32:
		return uint64(int64(int32(binary.LittleEndian.Uint32(b))))
	}
	return binary.LittleEndian.Uint64(b)
}
