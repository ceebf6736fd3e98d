package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"stencil/engine"
	"stencil/schema"
)

// constraintFields are the fields of a native request that say what the text
// must look like.
type constraintFields struct {
	Kind          string // "schema", "json" for any JSON, "" for none
	Schema        json.RawMessage
	Strict        bool
	Order         schema.Order
	Whitespace    schema.Whitespace
	OnUnsupported schema.OnUnsupported
}

// constraintNames are their names, at the top level or in json_mode.
var constraintNames = []string{
	"schema", "grammar", "regex", "choice", "strict", "repair", "constrained_decoding",
	"property_order", "whitespace", "on_unsupported",
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
		for _, name := range inner.names {
			if !slices.Contains(constraintNames, name) {
				return constraintFields{}, unknownField("json_mode."+name, nearest(name, constraintNames))
			}
		}
		for _, name := range o.names {
			if slices.Contains(constraintNames, name) {
				return constraintFields{}, &requestError{Param: name, Code: "two_constraints",
					Message: fmt.Sprintf("%s stands beside json_mode; a constraint is given at one of the two places", name)}
			}
		}
		from = inner
	}
	return from.constraint()
}

func (o *object) constraint() (constraintFields, error) {
	c := constraintFields{Strict: true, Whitespace: schema.Compact}
	var kinds []string
	for _, k := range constraintKinds {
		if o.given(k) {
			kinds = append(kinds, o.path+k)
		}
	}
	if len(kinds) > 1 {
		return c, &requestError{Param: kinds[1], Code: "two_constraints", Message: fmt.Sprintf("%s exclude one another", strings.Join(kinds, " and "))}
	}
	for _, k := range []string{"grammar", "regex", "choice"} {
		if o.given(k) {
			return c, notOffered(o.path+k, o.path+k)
		}
	}
	if o.given("schema") {
		c.Kind, c.Schema = "schema", o.members["schema"]
	}
	masks, repair := true, false
	order, unsupported := "schema", "error"
	for _, err := range []error{
		o.boolean("strict", &c.Strict),
		o.boolean("repair", &repair),
		o.boolean("constrained_decoding", &masks),
		o.oneOf("property_order", &order, "schema", "any"),
		o.oneOf("on_unsupported", &unsupported, "error", "validate", "ignore"),
		o.whitespace(&c.Whitespace),
	} {
		if err != nil {
			return c, err
		}
	}
	if !masks {
		return c, notOffered(o.path+"constrained_decoding", o.path+"constrained_decoding: false")
	}
	if repair {
		return c, notOffered(o.path+"repair", o.path+"repair: true")
	}
	if order == "any" {
		c.Order = schema.OrderAny
	}
	c.OnUnsupported = map[string]schema.OnUnsupported{
		"error": schema.UnsupportedIsError, "validate": schema.UnsupportedIsChecked, "ignore": schema.UnsupportedIsIgnored,
	}[unsupported]
	return c, nil
}

// maxBlankRun is the largest bound on a run of whitespace that a request may
// ask for.
const maxBlankRun = 4096

func (o *object) whitespace(to *schema.Whitespace) error {
	const name = "whitespace"
	if !o.given(name) {
		return nil
	}
	const want = `"compact", "pretty", "flexible" or {"max": n}`
	var word string
	if json.Unmarshal(o.members[name], &word) == nil {
		switch word {
		case "compact":
			*to = schema.Compact
		case "pretty":
			*to = schema.Pretty
		case "flexible":
			*to = schema.Flexible(0)
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

// compile returns nil for a request without a constraint.
func (m *served) compile(c constraintFields) (*engine.CompiledSchema, error) {
	if c.Kind == "" {
		return nil, nil
	}
	return m.schemas.Compile(c.Schema, schema.Options{
		Order: c.Order, Whitespace: c.Whitespace, OnUnsupported: c.OnUnsupported, Strict: c.Strict,
	})
}
