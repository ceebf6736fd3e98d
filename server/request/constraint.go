package request

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/gbnf"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/server/wire"
)

// A Constraint describes what a text must satisfy.
type Constraint struct {
	Kind          string // "schema", "json" for any JSON, "grammar", "regex", "choice", KindTags, "" for none
	Param         string // the field that it was read from
	Schema        json.RawMessage
	Text          string   // of a grammar or regex
	Builtin       *Builtin // a built-in grammar
	Choices       []string // of a choice
	Tags          []Tag
	Triggers      []string // of tags
	Strict        bool
	Order         schema.Order
	Whitespace    schema.Whitespace
	OnUnsupported schema.OnUnsupported

	OpenObjects bool // allow members that a schema neither names nor forbids

	NoMasks bool // generate without masks and validate afterwards
	Repair  bool // repair what can be repaired

	Markdown bool // remove Markdown emphasis from strings

	Empty string // the field with an empty text, which was taken for no constraint; see Whole

	Example json.RawMessage // to show to models without masks beside the schema; nil: one made from it

	onUnsupportedGiven bool
	raw                json.RawMessage // as written in the request
}

// DefaultConstraint returns the defaults of the options, without a constraint.
func DefaultConstraint() Constraint {
	// Natural keeps the model's own spacing: without it, small models write different values.
	return Constraint{Strict: true, Whitespace: schema.Natural}
}

// ConstraintNames are the native field names, at the top level or in json_mode.
var ConstraintNames = slices.Concat(constraintKinds, constraintOptions, []string{"json_mode"})

// constraintKinds are mutually exclusive; constraintOptions modify a constraint.
var (
	constraintKinds   = []string{"schema", "grammar", "regex", "choice", "typescript"}
	constraintOptions = []string{"strict", "repair", "constrained_decoding", "property_order", "whitespace", "on_unsupported", "open_objects"}
	// toolOptions also apply to tool calls: parts of calls are forced, and calls written by upstreams are validated and repaired.
	toolOptions = []string{"strict", "repair", "open_objects", "forced", "on_budget"}
)

// ReadConstraint reads the constraint of a request, at the top level or in json_mode.
func ReadConstraint(o *wire.Object) (Constraint, error) {
	var mode bool // json_mode, if true or false
	if o.Given("json_mode") && json.Unmarshal(o.Members["json_mode"], &mode) != nil {
		if o.Members["json_mode"][0] != '{' {
			return Constraint{}, o.WrongType("json_mode", "true, false or an object")
		}
		inner, err := wire.ParseObject(o.Members["json_mode"], "json_mode.")
		if err != nil {
			return Constraint{}, err
		}
		if err := inner.Only(slices.Concat(constraintKinds, constraintOptions, constrainedFields)...); err != nil {
			return Constraint{}, err
		}
		for _, name := range o.Names {
			if name != "json_mode" && slices.Contains(ConstraintNames, name) {
				return Constraint{}, &wire.Error{Param: name, Code: "two_constraints",
					Message: fmt.Sprintf("%s is given beside json_mode; a constraint must be either in json_mode or beside it", name)}
			}
		}
		c, err := constraintOf(inner)
		if err == nil && c.Kind == "" {
			c.setAny("json_mode")
		}
		return c, err
	}
	c, err := constraintOf(o)
	switch {
	case err != nil || !mode:
	case c.Kind != "":
		err = excludeEachOther([]string{"json_mode", c.Param})
	default:
		c.setAny("json_mode")
	}
	return c, err
}

// setAny sets the constraint to any JSON value.
func (c *Constraint) setAny(param string) {
	c.Kind, c.Param, c.Schema = "json", param, json.RawMessage("{}")
}

// Whole refuses an empty grammar, regular expression or source, for paths whose clients don't mean none by it.
func (c *Constraint) Whole() error {
	if c.Empty == "" {
		return nil
	}
	return wire.Invalid(c.Empty, "%s is empty, which constrains nothing; leave it out for a text without a constraint", c.Empty)
}

// SetAny sets the constraint to any JSON value unless there is a constraint already.
func (c *Constraint) SetAny() {
	if c.Kind == "" {
		c.setAny("")
	}
}

// CheckOptions refuses options of a constraint that would have no effect: the text is unconstrained, and tools support
// few options. The request's tools must have been read before.
func (q *Request) CheckOptions(o *wire.Object) error {
	if q.Constraint.Kind != "" {
		return nil
	}
	tools := q.Tools != nil && q.Tools.Mode != ToolsNone
	for _, name := range append(constraintOptions, "forced", "on_budget") {
		if !o.Given(name) || q.Tools != nil && slices.Contains(toolOptions, name) || idle(o, name) {
			continue
		}
		why := "and there is none"
		if tools {
			why = "which calls of tools are not: they are always held to their schemas"
		}
		return &wire.Error{Param: name, Code: "option_without_constraint",
			Message: fmt.Sprintf("%s is an option of a constraint on the text, %s; json_mode: true asks for any JSON, and %s ask for more", name, why, strings.Join(constraintKinds, ", "))}
	}
	return nil
}

// idle reports whether an option has no effect without a constraint, or applies to signals as well.
func idle(o *wire.Object, name string) bool {
	value := o.Members[name]
	switch name {
	case "repair":
		return wire.OffValue(value)
	case "forced", "on_budget":
		return string(value) != "false" && string(value) != `"truncate"` || o.Given("signals")
	}
	return false
}

func constraintOf(o *wire.Object) (Constraint, error) {
	c := DefaultConstraint()
	var kinds []string
	for _, k := range constraintKinds {
		if o.Given(k) && (k == "schema" || string(o.Members[k]) != `""`) {
			kinds = append(kinds, o.Path+k)
		}
	}
	if len(kinds) > 1 {
		return c, excludeEachOther(kinds)
	}
	for _, k := range constraintKinds {
		if err := c.Set(o, k, k); err != nil {
			return c, err
		}
	}
	masks := true
	for _, err := range []error{
		o.Boolean("strict", &c.Strict),
		c.readRepair(o),
		o.Boolean("constrained_decoding", &masks),
		c.ReadOptions(o),
	} {
		if err != nil {
			return c, err
		}
	}
	c.NoMasks = !masks
	return c, nil
}

// readRepair reads repair: true, false, or an object with options.
func (c *Constraint) readRepair(o *wire.Object) error {
	if !o.Given("repair") || o.Members["repair"][0] != '{' {
		return o.Decode("repair", &c.Repair, "true, false or an object")
	}
	in, err := o.Child("repair")
	if err != nil {
		return err
	}
	c.Repair = true
	if err := in.Only("markdown"); err != nil {
		return err
	}
	return in.Boolean("markdown", &c.Markdown)
}

func excludeEachOther(fields []string) *wire.Error {
	return &wire.Error{Param: fields[1], Code: "two_constraints", Message: fmt.Sprintf("%s exclude one another", strings.Join(fields, " and "))}
}

// ReadOptions reads the options of compiling a schema.
func (c *Constraint) ReadOptions(o *wire.Object) error {
	order, unsupported := "", ""
	for _, err := range []error{
		o.OneOf("property_order", &order, "schema", "any"),
		o.OneOf("on_unsupported", &unsupported, "error", "validate", "ignore"),
		readWhitespace(o, &c.Whitespace),
		o.Boolean("open_objects", &c.OpenObjects),
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

// Set sets the constraint from the member of that name if it is given.
func (c *Constraint) Set(o *wire.Object, name, kind string) error {
	if !o.Given(name) {
		return nil
	}
	if kind != "schema" && string(o.Members[name]) == `""` { // llama.cpp's clients send an empty grammar for none
		if c.Empty = o.Path + name; o.Path != "" { // inside of what asks for a constraint
			return c.Whole()
		}
		return nil
	}
	param := o.Path + name
	if c.Kind == kind && bytes.Equal(c.raw, o.Members[name]) {
		return nil // the same constraint again, from clients that send a field under several names
	}
	if c.Kind != "" {
		return excludeEachOther([]string{c.Param, param})
	}
	c.raw = o.Members[name]
	c.Kind, c.Param = kind, param
	switch kind {
	case "schema":
		var err error
		c.Schema, err = schemaOf(o.Members[name], param)
		return err
	case "typescript":
		source := ""
		if err := o.Str(name, &source); err != nil {
			return err
		}
		if o.Given("type") {
			return wire.Invalid(o.Path+"type", `%stype is not known here; "schema": {"typescript": …, "type": …} names a type`, o.Path)
		}
		var err error
		c.Kind = "schema"
		c.Schema, err = fromTypeScript(source, "", param)
		return err
	case "choice":
		const want = "an array of at least one string"
		if err := o.Decode(name, &c.Choices, want); err != nil {
			return err
		}
		if len(c.Choices) == 0 {
			return o.WrongType(name, want)
		}
		return nil
	case "grammar":
		if o.Members[name][0] == '{' {
			var err error
			c.Builtin, err = ReadBuiltin(o, name)
			return err
		}
		if err := o.Decode(name, &c.Text, `a string, or an object with "builtin"`); err != nil {
			return err
		}
		if slices.Contains(gbnf.Builtins(), c.Text) {
			return wire.Invalid(param, `%s: %s is no grammar in GBNF; the built-in one is {"builtin": %[2]q}`, param, c.Text)
		}
		return nil
	}
	return o.Str(name, &c.Text)
}

// SetJSON is Set for a schema that may also be a string of JSON.
func (c *Constraint) SetJSON(o *wire.Object, name string) error {
	if !o.Given(name) {
		return nil
	}
	var text string
	if json.Unmarshal(o.Members[name], &text) == nil {
		if !json.Valid([]byte(text)) {
			return wire.Invalid(o.Path+name, "%s must be a JSON Schema, as an object or as a string of JSON", o.Path+name)
		}
		o.Members[name] = json.RawMessage(text)
	}
	return c.Set(o, name, "schema")
}

// AnyObject is the schema of {"type": "json_object"}.
var AnyObject = json.RawMessage(`{"type":"object"}`)

// SetObject sets the constraint to any JSON object.
func (c *Constraint) SetObject(param string) error {
	if c.Kind != "" {
		return excludeEachOther([]string{c.Param, param})
	}
	c.Kind, c.Param, c.Schema = "json", param, AnyObject
	return nil
}

// maxBlankRun is the largest limit on a run of whitespace that a request may set.
const maxBlankRun = 4096

func readWhitespace(o *wire.Object, to *schema.Whitespace) error {
	const name = "whitespace"
	if !o.Given(name) {
		return nil
	}
	const want = `"natural", "compact", "pretty", "flexible" or {"max": n}`
	var word string
	if json.Unmarshal(o.Members[name], &word) == nil {
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
			return o.WrongType(name, want)
		}
		return nil
	}
	inner, err := wire.ParseObject(o.Members[name], o.Path+name+".")
	if err != nil {
		return o.WrongType(name, want)
	}
	for _, n := range inner.Names {
		if n != "max" {
			return wire.UnknownField(inner.Path+n, wire.Nearest(n, []string{"max"}))
		}
	}
	if !inner.Given("max") {
		return o.WrongType(name, want)
	}
	bound := 0
	if err := inner.Integer("max", &bound, 0, maxBlankRun); err != nil {
		return err
	}
	if *to = schema.Flexible(bound); bound == 0 {
		*to = schema.Compact
	}
	return nil
}

// Options returns the options with which a schema is compiled.
func (c *Constraint) Options() schema.Options {
	return schema.Options{Order: c.Order, Whitespace: c.Whitespace, OnUnsupported: c.OnUnsupported, Strict: c.Strict, Closed: !c.OpenObjects}
}
