package vocab

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// Override returns a copy of g with another value for a key: an int64, a float64, a bool or a
// string. The type of the value in the file is kept, and the new value must fit it. A missing
// key is added.
func (g *GGUF) Override(key string, value any) (*GGUF, error) {
	old, there := g.Get(key)
	v := Value{Type: old.Type}
	switch x := value.(type) {
	case int64:
		if !there {
			v.Type = TypeInt64
		}
		v.bits = uint64(x)
		low, high := integerRange(v.Type)
		if low == high {
			return nil, fmt.Errorf("%s is of type %s, not an integer", key, old.Type)
		}
		if x < low || x > high {
			return nil, fmt.Errorf("%s can't be %d: its type is %s", key, x, v.Type)
		}
	case float64:
		if !there {
			v.Type = TypeFloat32
		}
		switch v.Type {
		case TypeFloat32:
			v.bits = uint64(math.Float32bits(float32(x)))
		case TypeFloat64:
			v.bits = math.Float64bits(x)
		default:
			return nil, fmt.Errorf("%s is of type %s, not a float", key, old.Type)
		}
	case bool:
		if there && v.Type != TypeBool {
			return nil, fmt.Errorf("%s is of type %s, not a bool", key, old.Type)
		}
		v.Type = TypeBool
		if x {
			v.bits = 1
		}
	case string:
		if there && v.Type != TypeString {
			return nil, fmt.Errorf("%s is of type %s, not a string", key, old.Type)
		}
		v.Type, v.text = TypeString, x
	default:
		return nil, fmt.Errorf("%s can't be a %T", key, value)
	}
	out := *g
	out.Pairs = slices.Clone(g.Pairs)
	if there {
		out.Pairs[g.byKey[key]].Value = v
		return &out, nil
	}
	out.byKey = maps.Clone(g.byKey)
	if out.byKey == nil {
		out.byKey = map[string]int32{}
	}
	out.byKey[key] = int32(len(out.Pairs))
	out.Pairs = append(out.Pairs, Pair{key, v})
	return &out, nil
}

// integerRange returns the range of an integer type, as far as an int64 holds it; low and high
// are equal for other types.
func integerRange(t ValueType) (low, high int64) {
	switch t {
	case TypeUint8:
		return 0, math.MaxUint8
	case TypeInt8:
		return math.MinInt8, math.MaxInt8
	case TypeUint16:
		return 0, math.MaxUint16
	case TypeInt16:
		return math.MinInt16, math.MaxInt16
	case TypeUint32:
		return 0, math.MaxUint32
	case TypeInt32:
		return math.MinInt32, math.MaxInt32
	case TypeUint64:
		return 0, math.MaxInt64
	case TypeInt64:
		return math.MinInt64, math.MaxInt64
	}
	return 0, 0
}
