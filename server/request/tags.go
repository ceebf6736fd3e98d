package request

import (
	"encoding/json"
	"strings"

	"stencil/server/wire"
)

// KindTags is the constraint of a text that is free but for documents between tags,
// as vLLM and SGLang have it.
const KindTags = "structural_tag"

// A Tag is a document between two texts.
type Tag struct {
	Begin, End string
	Schema     json.RawMessage
	Param      string // where the schema stands in the request
}

// Limits of structural tags.
const (
	maxTags    = 256
	maxTagText = 1024 // bytes of a text
)

// setTags reads {"type": "structural_tag", "structures": [{"begin", "schema",
// "end"}], "triggers": […]}, which may be a string of JSON.
func (c *Constraint) setTags(o *wire.Object, name string) error {
	if !o.Given(name) {
		return nil
	}
	raw := o.Members[name]
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	in, err := wire.ParseObject(raw, o.Path+name+".")
	if err != nil {
		return o.WrongType(name, "an object, or a string of JSON")
	}
	return c.readTags(in)
}

func (c *Constraint) readTags(in *wire.Object) error {
	if c.Kind != "" {
		return excludeEachOther([]string{c.Param, in.Path + "structures"})
	}
	kind := ""
	for _, err := range []error{
		in.Only("type", "structures", "triggers"), in.OneOf("type", &kind, KindTags),
		in.Decode("triggers", &c.Triggers, "an array of strings"),
	} {
		if err != nil {
			return err
		}
	}
	list, err := in.List("structures")
	if err != nil {
		return err
	}
	if len(list) == 0 || len(list) > maxTags || len(c.Triggers) == 0 || len(c.Triggers) > maxTags {
		return wire.Invalid(in.Path+"structures", "%sstructures and %striggers must each have between 1 and %d entries", in.Path, in.Path, maxTags)
	}
	for _, s := range list {
		tag := Tag{Param: s.Path + "schema", Schema: s.Members["schema"]}
		for _, err := range []error{s.Only("begin", "schema", "end"), s.Str("begin", &tag.Begin), s.Str("end", &tag.End)} {
			if err != nil {
				return err
			}
		}
		switch {
		case !s.Given("schema"):
			return wire.Invalid(tag.Param, "%s is missing", tag.Param)
		case len(tag.Begin) > maxTagText || len(tag.End) > maxTagText:
			return wire.Invalid(s.Path+"begin", "%sbegin and %send must have at most %d bytes", s.Path, s.Path, maxTagText)
		case TriggerOf(c.Triggers, tag.Begin) == "":
			return wire.Invalid(s.Path+"begin", "%sbegin must begin with one of the triggers", s.Path)
		}
		c.Tags = append(c.Tags, tag)
	}
	c.Kind, c.Param = KindTags, in.Path+"structures"
	return nil
}

// TriggerOf returns the shortest trigger that a text begins with; "" if none.
func TriggerOf(triggers []string, begin string) (found string) {
	for _, t := range triggers {
		if t != "" && strings.HasPrefix(begin, t) && (found == "" || len(t) < len(found)) {
			found = t
		}
	}
	return found
}
