package request

import (
	"slices"

	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/server/wire"
)

// Other servers' clients request constraints under their own field names. All of them are read here, for every
// endpoint that speaks OpenAI's dialect.

// aliasNames are the non-native top-level fields that constrain the text.
var aliasNames = []string{
	"response_format",                                                // OpenAI, and with more types llama.cpp, TGI
	"json_schema",                                                    // llama.cpp, SGLang
	"ebnf",                                                           // SGLang
	"structured_outputs",                                             // vLLM
	"guided_json", "guided_regex", "guided_choice", "guided_grammar", // vLLM, older
}

// ReadAliases reads the constraint of a request in OpenAI's dialect. At most one may be given, under any name.
func ReadAliases(o *wire.Object) (Constraint, error) {
	c, err := ReadConstraint(o)
	if err != nil {
		return c, err
	}
	if !o.Given("strict") && !o.Given("json_mode") {
		c.Strict = false
	}
	for _, err := range []error{
		c.readResponseFormat(o),
		c.SetJSON(o, "json_schema"),
		c.Set(o, "ebnf", "grammar"),
		c.readStructuredOutputs(o),
		c.SetJSON(o, "guided_json"),
		c.Set(o, "guided_regex", "regex"),
		c.Set(o, "guided_choice", "choice"),
		c.Set(o, "guided_grammar", "grammar"),
	} {
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

// readStructuredOutputs reads vLLM's structured_outputs object.
func (c *Constraint) readStructuredOutputs(o *wire.Object) error {
	in, err := o.Child("structured_outputs")
	if in == nil || err != nil {
		return err
	}
	if err := in.Only("json", "regex", "choice", "grammar", "json_object", "disable_fallback", "disable_any_whitespace",
		"disable_additional_properties", "whitespace_pattern", "structural_tag", "backend", "_backend", "_backend_was_auto"); err != nil {
		return err
	}
	for _, name := range []string{"disable_additional_properties", "whitespace_pattern"} {
		if in.Given(name) && !wire.OffValue(in.Members[name]) {
			return wire.NotOffered(in.Path+name, in.Path+name)
		}
	}
	object := false
	for _, err := range []error{
		c.SetJSON(in, "json"),
		c.Set(in, "regex", "regex"),
		c.Set(in, "choice", "choice"),
		c.Set(in, "grammar", "grammar"),
		in.Boolean("json_object", &object),
		c.setTags(in, "structural_tag"),
	} {
		if err != nil {
			return err
		}
	}
	if object {
		return c.SetObject("structured_outputs.json_object")
	}
	if c.Kind == "" {
		return wire.Invalid("structured_outputs", `structured_outputs needs one of "json", "regex", "choice", "grammar", "json_object", "structural_tag"`)
	}
	return nil
}

// formatTypes are the types of a response_format: OpenAI's three, and those of servers that adopted the field.
var formatTypes = []string{"text", "json_object", "json_schema", "json", "regex", "grammar", "gbnf", KindTags}

// readResponseFormat reads OpenAI's response_format and other servers' variants of it.
func (c *Constraint) readResponseFormat(o *wire.Object) error {
	f, err := o.Child("response_format")
	if f == nil || err != nil {
		return err
	}
	return c.ReadFormat(f)
}

// ReadFormat reads {"type": …} and the members that belong to the type.
func (c *Constraint) ReadFormat(f *wire.Object) error {
	if !f.Given("type") {
		return wire.Invalid(f.Path+"type", "%stype is missing", f.Path)
	}
	kind := ""
	if err := f.OneOf("type", &kind, formatTypes...); err != nil {
		return err
	}
	switch kind {
	case "text":
		return f.Only("type")
	case KindTags:
		return c.readTags(f)
	case "regex":
		if err := f.Only("type", "value", "pattern", "regex"); err != nil {
			return err
		}
		return c.setFirst(f, kind, "value", "pattern", "regex")
	case "grammar", "gbnf":
		if err := f.Only("type", "value", "grammar"); err != nil {
			return err
		}
		return c.setFirst(f, "grammar", "value", "grammar")
	}
	if err := f.Only("type", "json_schema", "schema", "value", "name", "strict", "description"); err != nil {
		return err
	}
	from, err := f, error(nil)
	if f.Given("json_schema") {
		if kind != "json_schema" {
			return wire.Invalid(f.Path+"json_schema", "%sjson_schema can't be combined with type %q", f.Path, kind)
		}
		if from, err = f.Child("json_schema"); err != nil {
			return err
		}
		if err := from.Only("name", "schema", "strict", "description"); err != nil {
			return err
		}
	}
	return c.readNamedSchema(f, from, kind)
}

// readNamedSchema reads {"name", "schema", "strict", "description"}. Unless strict is true, keywords that can't be
// enforced are left to the validator.
func (c *Constraint) readNamedSchema(f, from *wire.Object, kind string) error {
	name, description, strict := "", "", false
	for _, err := range []error{
		from.Str("name", &name), from.Str("description", &description), from.Boolean("strict", &strict),
	} {
		if err != nil {
			return err
		}
	}
	c.Strict = strict
	if !strict && !c.onUnsupportedGiven {
		c.OnUnsupported = schema.UnsupportedIsChecked
	}
	for _, name := range []string{"schema", "value"} {
		if from.Given(name) {
			return c.SetJSON(from, name)
		}
	}
	if kind == "json_schema" {
		return wire.Invalid(from.Path+"schema", "%sschema is missing", from.Path)
	}
	return c.SetObject(f.Path + "type")
}

// setFirst sets the constraint from the first of the members that is given.
func (c *Constraint) setFirst(f *wire.Object, kind string, members ...string) error {
	for _, name := range members {
		if f.Given(name) {
			return c.Set(f, name, kind)
		}
	}
	return wire.Invalid(f.Path+members[0], "%s%s is missing", f.Path, members[0])
}

// ConstraintAliases are all field names of constraints in OpenAI's dialect.
var ConstraintAliases = slices.Concat(ConstraintNames, aliasNames)
