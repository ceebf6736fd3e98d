package request

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stencil-json/stencil/server/wire"
)

// KindTags is the constraint of free text with documents between tags, as in vLLM and SGLang.
const KindTags = "structural_tag"

// A Tag is a document between a begin and an end text.
type Tag struct {
	Begin, End string
	Schema     json.RawMessage
	Param      string // the schema's field in the request
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
	if in.Given("format") {
		return c.readTagFormat(in)
	}
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
		if tag.Schema, err = schemaOf(tag.Schema, tag.Param); err != nil {
			return err
		}
		if !s.Given("schema") {
			return wire.Invalid(tag.Param, "%s is missing", tag.Param)
		}
		if err := c.addTag(s, tag); err != nil {
			return err
		}
	}
	c.Kind, c.Param = KindTags, in.Path+"structures"
	return nil
}

// addTag adds a tag, which was read from s.
func (c *Constraint) addTag(s *wire.Object, tag Tag) error {
	switch {
	case len(tag.Begin) > maxTagText || len(tag.End) > maxTagText:
		return wire.Invalid(s.Path+"begin", "%sbegin and %send must have at most %d bytes", s.Path, s.Path, maxTagText)
	case TriggerOf(c.Triggers, tag.Begin) == "":
		return wire.Invalid(s.Path+"begin", "%sbegin must begin with one of the triggers", s.Path)
	}
	c.Tags = append(c.Tags, tag)
	return nil
}

// readTagFormat reads vLLM's current form, {"type": "structural_tag", "format": {"type": "triggered_tags", "triggers":
// […], "tags": [{"type": "tag", "begin", "content": {"type": "json_schema", "json_schema"}, "end"}]}}. Of vLLM's
// formats only this one is supported; it is what the older form could express.
func (c *Constraint) readTagFormat(in *wire.Object) error {
	kind := ""
	for _, err := range []error{in.Only("type", "format"), in.OneOf("type", &kind, KindTags)} {
		if err != nil {
			return err
		}
	}
	f, err := in.Child("format")
	if err != nil {
		return err
	}
	if c.Kind != "" {
		return excludeEachOther([]string{c.Param, f.Path + "tags"})
	}
	if err := f.Str("type", &kind); err != nil {
		return err
	}
	if kind != "triggered_tags" {
		return wire.NotOffered(f.Path+"type", fmt.Sprintf("of structural tags, \"triggered_tags\" with JSON Schemas are offered; %q", kind))
	}
	for _, err := range []error{
		f.Only("type", "triggers", "tags", "at_least_one", "stop_after_first", "excludes"), f.Decode("triggers", &c.Triggers, "an array of strings"),
	} {
		if err != nil {
			return err
		}
	}
	for _, name := range []string{"at_least_one", "stop_after_first", "excludes"} {
		if f.Given(name) && !wire.OffValue(f.Members[name]) {
			return wire.NotOffered(f.Path+name, f.Path+name)
		}
	}
	list, err := f.List("tags")
	if err != nil {
		return err
	}
	if len(list) == 0 || len(list) > maxTags || len(c.Triggers) == 0 || len(c.Triggers) > maxTags {
		return wire.Invalid(f.Path+"tags", "%stags and %striggers must each have between 1 and %d entries", f.Path, f.Path, maxTags)
	}
	for _, t := range list {
		if err := c.readTag(t); err != nil {
			return err
		}
	}
	c.Kind, c.Param = KindTags, f.Path+"tags"
	return nil
}

// readTag reads a tag of the current form.
func (c *Constraint) readTag(t *wire.Object) error {
	kind, tag := "tag", Tag{}
	for _, err := range []error{
		t.Only("type", "begin", "content", "end"), t.OneOf("type", &kind, "tag"), t.Str("begin", &tag.Begin), t.Str("end", &tag.End),
	} {
		if err != nil {
			return err
		}
	}
	content, err := t.Child("content")
	if err != nil {
		return err
	}
	if content == nil {
		return wire.Invalid(t.Path+"content", "%scontent is missing", t.Path)
	}
	if err := content.Str("type", &kind); err != nil {
		return err
	}
	if kind != "json_schema" {
		return wire.NotOffered(content.Path+"type", fmt.Sprintf("content of type %q", kind))
	}
	if err := content.Only("type", "json_schema"); err != nil {
		return err
	}
	tag.Param = content.Path + "json_schema"
	if !content.Given("json_schema") {
		return wire.Invalid(tag.Param, "%s is missing", tag.Param)
	}
	if tag.Schema, err = schemaOf(content.Members["json_schema"], tag.Param); err != nil {
		return err
	}
	return c.addTag(t, tag)
}

// TriggerOf returns the shortest trigger that is a prefix of begin; "" if none.
func TriggerOf(triggers []string, begin string) (found string) {
	for _, t := range triggers {
		if t != "" && strings.HasPrefix(begin, t) && (found == "" || len(t) < len(found)) {
			found = t
		}
	}
	return found
}
