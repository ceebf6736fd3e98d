package server

import (
	"slices"

	"stencil/schema"
)

// Clients of other servers ask for a constraint in ways of their own. All of
// them are read here, for every endpoint that speaks OpenAI's dialect.

// spellingNames are the fields, beside the native ones, that say at the top
// level what the text must look like.
var spellingNames = []string{
	"response_format",                                                // OpenAI, and with more types llama.cpp, TGI
	"json_schema",                                                    // llama.cpp, SGLang
	"ebnf",                                                           // SGLang
	"structured_outputs",                                             // vLLM
	"guided_json", "guided_regex", "guided_choice", "guided_grammar", // vLLM before
}

// readSpellings reads the constraint of a request in OpenAI's dialect. At most
// one may be given, whatever its spelling.
func readSpellings(o *object) (constraintFields, error) {
	c, err := readConstraint(o)
	if err != nil {
		return c, err
	}
	if !o.given("strict") && !o.given("json_mode") {
		c.Strict = false
	}
	for _, err := range []error{
		c.readResponseFormat(o),
		c.setJSON(o, "json_schema"),
		c.set(o, "ebnf", "grammar"),
		c.readStructuredOutputs(o),
		c.setJSON(o, "guided_json"),
		c.set(o, "guided_regex", "regex"),
		c.set(o, "guided_choice", "choice"),
		c.set(o, "guided_grammar", "grammar"),
	} {
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

// readStructuredOutputs reads vLLM's object.
func (c *constraintFields) readStructuredOutputs(o *object) error {
	in, err := o.child("structured_outputs")
	if in == nil || err != nil {
		return err
	}
	if err := in.only("json", "regex", "choice", "grammar", "json_object", "disable_fallback", "disable_any_whitespace",
		"disable_additional_properties", "whitespace_pattern", "structural_tag"); err != nil {
		return err
	}
	for _, name := range []string{"disable_additional_properties", "whitespace_pattern"} {
		if in.given(name) && !offValue(in.members[name]) {
			return notOffered(in.path+name, in.path+name)
		}
	}
	object := false
	for _, err := range []error{
		c.setJSON(in, "json"),
		c.set(in, "regex", "regex"),
		c.set(in, "choice", "choice"),
		c.set(in, "grammar", "grammar"),
		in.boolean("json_object", &object),
		c.setTags(in, "structural_tag"),
	} {
		if err != nil {
			return err
		}
	}
	if object {
		return c.setObject("structured_outputs.json_object")
	}
	if c.Kind == "" {
		return invalid("structured_outputs", `structured_outputs needs one of "json", "regex", "choice", "grammar", "json_object", "structural_tag"`)
	}
	return nil
}

// formatTypes are the types of a response_format: OpenAI's three, and those of
// servers that took its field over.
var formatTypes = []string{"text", "json_object", "json_schema", "json", "regex", "grammar", "gbnf", kindTags}

// readResponseFormat reads OpenAI's response_format and what others made of it.
func (c *constraintFields) readResponseFormat(o *object) error {
	f, err := o.child("response_format")
	if f == nil || err != nil {
		return err
	}
	return c.readFormat(f)
}

// readFormat reads {"type": …} with what belongs to the type.
func (c *constraintFields) readFormat(f *object) error {
	if !f.given("type") {
		return invalid(f.path+"type", "%stype is missing", f.path)
	}
	kind := ""
	if err := f.oneOf("type", &kind, formatTypes...); err != nil {
		return err
	}
	switch kind {
	case "text":
		return f.only("type")
	case kindTags:
		return c.readTags(f)
	case "regex":
		if err := f.only("type", "value", "pattern", "regex"); err != nil {
			return err
		}
		return c.setFirst(f, kind, "value", "pattern", "regex")
	case "grammar", "gbnf":
		if err := f.only("type", "value", "grammar"); err != nil {
			return err
		}
		return c.setFirst(f, "grammar", "value", "grammar")
	}
	if err := f.only("type", "json_schema", "schema", "value", "name", "strict", "description"); err != nil {
		return err
	}
	from, err := f, error(nil)
	if f.given("json_schema") {
		if kind != "json_schema" {
			return invalid(f.path+"json_schema", "%sjson_schema stands beside type %q", f.path, kind)
		}
		if from, err = f.child("json_schema"); err != nil {
			return err
		}
		if err := from.only("name", "schema", "strict", "description"); err != nil {
			return err
		}
	}
	return c.readNamedSchema(f, from, kind)
}

// readNamedSchema reads {"name", "schema", "strict", "description"}. Unless
// strict is true, keywords that can't be enforced are left to the validator.
func (c *constraintFields) readNamedSchema(f, from *object, kind string) error {
	name, description, strict := "", "", false
	for _, err := range []error{
		from.str("name", &name), from.str("description", &description), from.boolean("strict", &strict),
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
		if from.given(name) {
			return c.setJSON(from, name)
		}
	}
	if kind == "json_schema" {
		return invalid(from.path+"schema", "%sschema is missing", from.path)
	}
	return c.setObject(f.path + "type")
}

// setFirst takes the constraint from whichever of the members is given.
func (c *constraintFields) setFirst(f *object, kind string, members ...string) error {
	for _, name := range members {
		if f.given(name) {
			return c.set(f, name, kind)
		}
	}
	return invalid(f.path+members[0], "%s%s is missing", f.path, members[0])
}

// constraintSpellings are all names of constraint fields in OpenAI's dialect.
var constraintSpellings = slices.Concat(constraintNames, spellingNames)
