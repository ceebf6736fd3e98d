package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"stencil/schema"
)

// constraintFields say what a text must look like.
type constraintFields struct {
	Kind          string // "schema", "json" for any JSON, "grammar", "regex", "choice", kindTags, "" for none
	Param         string // the field that it came from
	Schema        json.RawMessage
	Text          string   // of a grammar or regex
	Choices       []string // of a choice
	Tags          []tagField
	Triggers      []string // of tags
	Strict        bool
	Order         schema.Order
	Whitespace    schema.Whitespace
	OnUnsupported schema.OnUnsupported

	NoMasks bool // write freely and check afterwards
	Repair  bool // and repair what can be repaired

	onUnsupportedGiven bool
}

func defaultConstraint() constraintFields {
	// The model's own spacing: without the spaces that it is used to, a small one
	// writes other values.
	return constraintFields{Strict: true, Whitespace: schema.Natural}
}

// constraintNames are the native names of the fields, at the top level or in
// json_mode.
var constraintNames = []string{
	"schema", "grammar", "regex", "choice", "strict", "repair", "constrained_decoding",
	"property_order", "whitespace", "on_unsupported", "json_mode",
}

// constraintKinds are those of which a request has at most one.
var constraintKinds = []string{"schema", "grammar", "regex", "choice"}

// readConstraint finds the constraint of a request at one of its two places.
func readConstraint(o *object) (constraintFields, error) {
	from := o
	if o.given("json_mode") {
		inner, err := parseObject(o.members["json_mode"], "json_mode.")
		if err != nil {
			return constraintFields{}, err
		}
		if err := inner.only(constraintNames[:len(constraintNames)-1]...); err != nil {
			return constraintFields{}, err
		}
		for _, name := range o.names {
			if name != "json_mode" && slices.Contains(constraintNames, name) {
				return constraintFields{}, &requestError{Param: name, Code: "two_constraints",
					Message: fmt.Sprintf("%s stands beside json_mode; a constraint is given at one of the two places", name)}
			}
		}
		from = inner
	}
	return constraintOf(from)
}

func constraintOf(o *object) (constraintFields, error) {
	c := defaultConstraint()
	var kinds []string
	for _, k := range constraintKinds {
		if o.given(k) {
			kinds = append(kinds, o.path+k)
		}
	}
	if len(kinds) > 1 {
		return c, excludeEachOther(kinds)
	}
	for _, k := range constraintKinds {
		if err := c.set(o, k, k); err != nil {
			return c, err
		}
	}
	masks := true
	for _, err := range []error{
		o.boolean("strict", &c.Strict),
		o.boolean("repair", &c.Repair),
		o.boolean("constrained_decoding", &masks),
		c.readOptions(o),
	} {
		if err != nil {
			return c, err
		}
	}
	c.NoMasks = !masks
	return c, nil
}

func excludeEachOther(fields []string) *requestError {
	return &requestError{Param: fields[1], Code: "two_constraints", Message: fmt.Sprintf("%s exclude one another", strings.Join(fields, " and "))}
}

// readOptions reads how a schema is to be taken.
func (c *constraintFields) readOptions(o *object) error {
	order, unsupported := "", ""
	for _, err := range []error{
		o.oneOf("property_order", &order, "schema", "any"),
		o.oneOf("on_unsupported", &unsupported, "error", "validate", "ignore"),
		readWhitespace(o, &c.Whitespace),
	} {
		if err != nil {
			return err
		}
	}
	switch order {
	case "any":
		c.Order = schema.OrderAny
	case "schema":
		c.Order = schema.OrderSchema
	}
	c.onUnsupportedGiven = c.onUnsupportedGiven || unsupported != ""
	switch unsupported {
	case "error":
		c.OnUnsupported = schema.UnsupportedIsError
	case "validate":
		c.OnUnsupported = schema.UnsupportedIsChecked
	case "ignore":
		c.OnUnsupported = schema.UnsupportedIsIgnored
	}
	return nil
}

// set takes a constraint of a kind from the member of that name, if it is
// given.
func (c *constraintFields) set(o *object, name, kind string) error {
	if !o.given(name) {
		return nil
	}
	param := o.path + name
	if c.Kind != "" {
		return excludeEachOther([]string{c.Param, param})
	}
	c.Kind, c.Param = kind, param
	switch kind {
	case "schema":
		c.Schema = o.members[name]
		return nil
	case "choice":
		const want = "an array of at least one string"
		if err := o.decode(name, &c.Choices, want); err != nil {
			return err
		}
		if len(c.Choices) == 0 {
			return o.wrongType(name, want)
		}
		return nil
	}
	return o.str(name, &c.Text)
}

// setJSON is set for a schema that may be written as a string of JSON.
func (c *constraintFields) setJSON(o *object, name string) error {
	if !o.given(name) {
		return nil
	}
	var text string
	if json.Unmarshal(o.members[name], &text) == nil {
		if !json.Valid([]byte(text)) {
			return invalid(o.path+name, "%s must be a JSON Schema, as an object or as a string of JSON", o.path+name)
		}
		o.members[name] = json.RawMessage(text)
	}
	return c.set(o, name, "schema")
}

// anyObject is the schema of {"type": "json_object"}.
var anyObject = json.RawMessage(`{"type":"object"}`)

// setObject asks for any JSON object.
func (c *constraintFields) setObject(param string) error {
	if c.Kind != "" {
		return excludeEachOther([]string{c.Param, param})
	}
	c.Kind, c.Param, c.Schema = "json", param, anyObject
	return nil
}

// maxBlankRun is the largest bound on a run of whitespace that a request may
// ask for.
const maxBlankRun = 4096

func readWhitespace(o *object, to *schema.Whitespace) error {
	const name = "whitespace"
	if !o.given(name) {
		return nil
	}
	const want = `"natural", "compact", "pretty", "flexible" or {"max": n}`
	var word string
	if json.Unmarshal(o.members[name], &word) == nil {
		switch word {
		case "compact":
			*to = schema.Compact
		case "pretty":
			*to = schema.Pretty
		case "flexible":
			*to = schema.Flexible(0)
		case "natural":
			*to = schema.Natural
		default:
			return o.wrongType(name, want)
		}
		return nil
	}
	inner, err := parseObject(o.members[name], o.path+name+".")
	if err != nil {
		return o.wrongType(name, want)
	}
	for _, n := range inner.names {
		if n != "max" {
			return unknownField(inner.path+n, nearest(n, []string{"max"}))
		}
	}
	if !inner.given("max") {
		return o.wrongType(name, want)
	}
	bound := 0
	if err := inner.integer("max", &bound, 0, maxBlankRun); err != nil {
		return err
	}
	if *to = schema.Flexible(bound); bound == 0 {
		*to = schema.Compact
	}
	return nil
}

func (c *constraintFields) options() schema.Options {
	return schema.Options{Order: c.Order, Whitespace: c.Whitespace, OnUnsupported: c.OnUnsupported, Strict: c.Strict}
}
