package goschema

import (
	"encoding/json"
	"errors"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"
)

type base struct {
	ID      int64 `json:"id"`
	Comment string
	//lint:ignore U1000 fields that are not exported are left out
	hidden int
}

type shadow struct {
	Comment string `json:"Comment,omitempty"`
	Twice   int
}

type other struct{ Twice int }

type node struct {
	Value    any     `json:"value"`
	Children []*node `json:"children"`
	Parent   *node   `json:"parent,omitempty"`
}

type level int

func (level) MarshalText() ([]byte, error) { return []byte("low"), nil }

//lint:ignore U1000 nothing of it is looked at
type odd struct{ x int }

func (odd) MarshalJSON() ([]byte, error) { return []byte("1"), nil }

type colour string

func (colour) JSONSchema() []byte { return []byte(`{"enum":["red","blue"]}`) }

type box[T any] struct {
	Item T `json:"item"`
}

// schemaOf returns the schema of a value's type without $schema.
func schemaOf(t *testing.T, v any) string {
	t.Helper()
	out, err := Of(reflect.TypeOf(v))
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out) {
		t.Fatalf("no JSON: %s", out)
	}
	text := strings.Replace(string(out), `{"$schema":"https://json-schema.org/draft/2020-12/schema"`, "{", 1)
	return strings.Replace(text, "{,", "{", 1)
}

func TestTypes(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{true, `{"type":"boolean"}`},
		{int8(0), `{"type":"integer","minimum":-128,"maximum":127}`},
		{uint16(0), `{"type":"integer","minimum":0,"maximum":65535}`},
		{int64(0), `{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807}`},
		{uint64(0), `{"type":"integer","minimum":0,"maximum":18446744073709551615}`},
		{float32(0), `{"type":"number"}`},
		{"", `{"type":"string"}`},
		{[]byte{}, `{"type":"string","contentEncoding":"base64","pattern":"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"}`},
		{[2]bool{}, `{"type":"array","items":{"type":"boolean"},"minItems":2,"maxItems":2}`},
		{[]*string{}, `{"type":"array","items":{"type":["string","null"]}}`},
		{map[string]bool{}, `{"type":"object","additionalProperties":{"type":"boolean"}}`},
		{map[int]bool{}, `{"type":"object","propertyNames":{"pattern":"^(?:0|-?[1-9][0-9]*)$"},"additionalProperties":{"type":"boolean"}}`},
		{map[level]any{}, `{"type":"object","additionalProperties":{}}`},
		{struct{ X any }{}, `{"type":"object","properties":{"X":{}},"required":["X"],"additionalProperties":false}`},
		{time.Time{}, `{"type":"string","format":"date-time","pattern":"^(?!.*:60)[^tz]*$"}`},
		{json.Number(""), `{"type":"number"}`},
		{json.RawMessage{}, `{}`},
		{&big.Int{}, `{"type":"integer"}`},
		{level(0), `{"type":"string"}`},
		{odd{}, `{}`},
		{colour(""), `{"allOf":[{"enum":["red","blue"]}]}`},
		{[]colour{}, `{"type":"array","items":{"allOf":[{"enum":["red","blue"]}]}}`},
		{struct {
			base
			*shadow
			other
			Comment string `json:"-"`
			//lint:ignore SA5008 the name is a dash
			Dash  int  `json:"-,"`
			Named base `json:"named"`
		}{}, `{"type":"object","properties":{"id":` + int64Schema + `,"Comment":{"type":"string"},"-":` + int64Schema + `,"named":{"$ref":"#/$defs/base"}},"required":["id","-","named"],"additionalProperties":false,"$defs":{"base":{"type":"object","properties":{"id":` + int64Schema + `,"Comment":{"type":"string"}},"required":["id","Comment"],"additionalProperties":false}}}`},
		{struct {
			A *int8   `json:"a"`
			B *int8   `json:"b,omitempty"`
			C int8    `json:"c,string"`
			D *bool   `json:"d,omitzero,string"`
			E float64 `json:",string"`
		}{}, `{"type":"object","properties":{"a":{"type":["integer","null"],"minimum":-128,"maximum":127},"b":{"type":"integer","minimum":-128,"maximum":127},"c":{"type":"string","pattern":"^(?:0|-?[1-9][0-9]*)$"},"d":{"anyOf":[{"type":"string","enum":["true","false"]},{"type":"null"}]},"E":{"type":"string","pattern":"^-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$"}},"required":["a","c","E"],"additionalProperties":false}`},
		{node{}, `{"type":"object","properties":{"value":{},"children":{"type":"array","items":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"parent":{"$ref":"#"}},"required":["value","children"],"additionalProperties":false}`},
		{box[box[node]]{}, `{"type":"object","properties":{"item":{"$ref":"#/$defs/box_goschema_node"}},"required":["item"],"additionalProperties":false,"$defs":{"box_goschema_node":{"type":"object","properties":{"item":{"$ref":"#/$defs/node"}},"required":["item"],"additionalProperties":false},"node":{"type":"object","properties":{"value":{},"children":{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}},"parent":{"$ref":"#/$defs/node"}},"required":["value","children"],"additionalProperties":false}}}`},
		{struct {
			A int     `json:"a" jsonschema:"minimum=0,maximum=150,description=in years\\, rounded,example=7"`
			B string  `json:"b,omitempty" jsonschema:"enum=x,enum=y,required,default=x"`
			C []level `json:"c" jsonschema:"enum=low,minItems=1,uniqueItems"`
			D string  `json:"d" jsonschema:"pattern=^a{1\\,3}$,nullable,title=The D" jsonschema_description:"a, b, c"`
		}{}, `{"type":"object","properties":{"a":{"type":"integer","minimum":0,"maximum":150,"description":"in years, rounded","examples":[7]},"b":{"type":"string","enum":["x","y"],"default":"x"},"c":{"type":"array","items":{"type":"string","enum":["low"]},"minItems":1,"uniqueItems":true},"d":{"type":["string","null"],"pattern":"^a{1,3}$","title":"The D","description":"a, b, c"}},"required":["a","b","c","d"],"additionalProperties":false}`},
	} {
		if got := schemaOf(t, c.value); got != c.want {
			t.Errorf("%T:\ngot  %s\nwant %s", c.value, got, c.want)
		}
	}
}

const int64Schema = `{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807}`

func (l *level) UnmarshalText(b []byte) error { return nil }

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{struct{ A struct{ B []chan int } }{}, "A.B[]: type chan int: has no JSON form"},
		{struct{ F func() }{}, "F: type func(): has no JSON form"},
		{map[bool]int{}, "keys of this kind have no JSON form"},
		{struct {
			A string `json:",string"`
		}{}, "quotes a string twice"},
		{struct {
			//lint:ignore SA5008 a wrong tag on purpose
			A []int `json:",string"`
		}{}, "is for numbers and booleans"},
		{struct {
			A int `jsonschema:"minimun=1"`
		}{}, `A: type int: tag jsonschema: "minimun" is unknown`},
		{struct {
			A int `jsonschema:"minimum=one"`
		}{}, `minimum needs a number, not "one"`},
		{struct {
			A int `jsonschema:"enum=one"`
		}{}, `enum: "one" is not a value of type int`},
		{struct {
			A int `jsonschema:"uniqueItems=maybe"`
		}{}, `uniqueItems needs true or false`},
		{struct {
			A int `jsonschema:"optional"`
		}{}, `"optional" is unknown, or needs a value`},
		{complex(1, 1), "has no JSON form"},
	} {
		_, err := Of(reflect.TypeOf(c.value))
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T: got %v, want %s", c.value, err, c.want)
		}
	}
}

// TestFieldsAsJSON checks that the fields are the ones that encoding/json writes, in
// the same order.
func TestFieldsAsJSON(t *testing.T) {
	for _, v := range []any{
		struct {
			base
			other
			Z int
		}{},
		struct {
			base
			shadow
			other
			A int `json:"id"`
		}{},
		struct {
			*node
			//lint:ignore SA5008 a wrong tag on purpose
			X int `json:"in valid\\"`
		}{node: &node{}},
		struct {
			Time time.Time
			B    *base `json:"b"`
		}{},
	} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var byName map[string]json.RawMessage
		if err := json.Unmarshal(text, &byName); err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		at := 0
		for _, f := range fields(reflect.TypeOf(v)) {
			names[f.name] = true
			if _, written := byName[f.name]; !written && !f.optional {
				t.Errorf("%T: field %q is not in %s", v, f.name, text)
			}
			if i := strings.Index(string(text), `"`+f.name+`":`); i >= 0 {
				if i < at {
					t.Errorf("%T: field %q is out of order in %s", v, f.name, text)
				}
				at = i
			}
		}
		for name := range byName {
			if !names[name] {
				t.Errorf("%T: no field for %q", v, name)
			}
		}
	}
}
