// Package goschema derives a JSON Schema from a Go type. It describes what
// encoding/json writes for values of the type and reads without an error, with keys in
// the order of the fields.
//
//	bool                       boolean
//	int8 … int64, uint8 …      integer, with the bounds of the type
//	float32, float64           number
//	string                     string
//	[]byte                     string of base64
//	[]T                        array
//	[4]T                       array of exactly 4
//	map[K]V                    object; keys of integer kind are written in digits
//	struct                     object without further properties
//	*T                         T or null; with omitempty just T
//	any, json.RawMessage       anything
//	json.Number, *big.Int      number, integer
//	time.Time                  string of format date-time, as Go reads it
//	encoding.TextMarshaler     string
//	json.Marshaler             anything, unless the type is a [Describer]
//
// A field is required unless it has omitempty or omitzero. Embedded structs,
// names and "-" follow encoding/json. With the option string, a number or
// boolean becomes a string. Named struct types are definitions of their own, so
// recursive types work. Channels, functions and complex numbers have no JSON
// form and are an error.
//
// The struct tag jsonschema adds keywords, separated by commas (a comma within
// a value is written \\,):
//
//	Age  int      `json:"age" jsonschema:"minimum=0,maximum=150"`
//	Name string   `json:"name" jsonschema:"minLength=1,description=as on the passport"`
//	Kind string   `json:"kind" jsonschema:"enum=new,enum=used"`
//
// The known keywords are title, description, default, example, enum, format, pattern,
// minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, minLength,
// maxLength, minItems, maxItems, minProperties, maxProperties, uniqueItems,
// deprecated, required, nullable and "-" for no keywords. An unknown one is an error.
// The tag jsonschema_description holds a description that may contain commas.
//
// # Why not a library
//
// github.com/invopop/jsonschema (0.14), whose struct tags are understood here, describes
// types for readers, not for masks. Its schema excludes what encoding/json writes for
// *big.Int, json.Number and nil pointers, and allows what it can't read: integers beyond
// int8 or uint16, strings that are not base64, any string for a number with the option
// string.
package goschema
