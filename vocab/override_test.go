package vocab

import (
	"math"
	"testing"
)

func TestOverride(t *testing.T) {
	g := &GGUF{Pairs: []Pair{{"n", Value{Type: TypeUint8, bits: 3}}, {"x", Value{Type: TypeFloat64, bits: math.Float64bits(1)}}, {"b", Value{Type: TypeBool}}, {"s", Value{Type: TypeString, text: "a"}}, {"list", Value{Type: TypeArray, Elem: TypeString}}}, byKey: map[string]int32{"n": 0, "x": 1, "b": 2, "s": 3, "list": 4}}
	for _, test := range []struct {
		key   string
		value any
		want  string // "": an error
		kind  ValueType
	}{
		{"n", int64(255), "255", TypeUint8}, {"n", int64(256), "", 0}, {"n", int64(-1), "", 0}, {"n", 1.0, "", 0}, {"n", "1", "", 0}, {"n", true, "", 0},
		{"x", 2.5, "2.5", TypeFloat64}, {"x", int64(2), "", 0},
		{"b", true, "true", TypeBool}, {"b", false, "false", TypeBool}, {"s", "b", "b", TypeString}, {"list", "b", "", 0}, {"list", int64(1), "", 0},
		{"new", int64(-7), "-7", TypeInt64}, {"new", 0.5, "0.5", TypeFloat32}, {"new", true, "true", TypeBool}, {"new", "t", "t", TypeString}, {"new", 'x', "", 0},
	} {
		out, err := g.Override(test.key, test.value)
		if test.want == "" {
			if err == nil {
				t.Errorf("%s can be %v", test.key, test.value)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s=%v: %v", test.key, test.value, err)
			continue
		}
		if v, ok := out.Get(test.key); !ok || v.Type != test.kind || v.String() != test.want {
			t.Errorf("%s=%v: %v %s", test.key, test.value, v.Type, v)
		}
	}
	if v, _ := g.Int("n"); v != 3 || len(g.Pairs) != 5 || len(g.byKey) != 5 {
		t.Errorf("the original has changed: %v", g)
	}
}
