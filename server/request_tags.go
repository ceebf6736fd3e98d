package server

import (
	"encoding/json"
	"strings"
)

// kindTags is the constraint of a text that is free but for documents between tags,
// as vLLM and SGLang have it.
const kindTags = "structural_tag"

// A tagField is a document between two texts.
type tagField struct {
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
func (c *constraintFields) setTags(o *object, name string) error {
	if !o.given(name) {
		return nil
	}
	raw := o.members[name]
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	in, err := parseObject(raw, o.path+name+".")
	if err != nil {
		return o.wrongType(name, "an object, or a string of JSON")
	}
	return c.readTags(in)
}

func (c *constraintFields) readTags(in *object) error {
	if c.Kind != "" {
		return excludeEachOther([]string{c.Param, in.path + "structures"})
	}
	kind := ""
	for _, err := range []error{
		in.only("type", "structures", "triggers"), in.oneOf("type", &kind, kindTags),
		in.decode("triggers", &c.Triggers, "an array of strings"),
	} {
		if err != nil {
			return err
		}
	}
	list, err := in.list("structures")
	if err != nil {
		return err
	}
	if len(list) == 0 || len(list) > maxTags || len(c.Triggers) == 0 || len(c.Triggers) > maxTags {
		return invalid(in.path+"structures", "%sstructures and %striggers must each have between 1 and %d entries", in.path, in.path, maxTags)
	}
	for _, s := range list {
		tag := tagField{Param: s.path + "schema", Schema: s.members["schema"]}
		for _, err := range []error{s.only("begin", "schema", "end"), s.str("begin", &tag.Begin), s.str("end", &tag.End)} {
			if err != nil {
				return err
			}
		}
		switch {
		case !s.given("schema"):
			return invalid(tag.Param, "%s is missing", tag.Param)
		case len(tag.Begin) > maxTagText || len(tag.End) > maxTagText:
			return invalid(s.path+"begin", "%sbegin and %send must have at most %d bytes", s.path, s.path, maxTagText)
		case triggerOf(c.Triggers, tag.Begin) == "":
			return invalid(s.path+"begin", "%sbegin must begin with one of the triggers", s.path)
		}
		c.Tags = append(c.Tags, tag)
	}
	c.Kind, c.Param = kindTags, in.path+"structures"
	return nil
}

// triggerOf returns the shortest trigger that a text begins with; "" if none.
func triggerOf(triggers []string, begin string) (found string) {
	for _, t := range triggers {
		if t != "" && strings.HasPrefix(begin, t) && (found == "" || len(t) < len(found)) {
			found = t
		}
	}
	return found
}
