package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"stencil/engine"
	"stencil/schema"
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

// A tagSet is compiled structural tags.
type tagSet struct {
	triggers []string
	tags     []compiledTag
}

type compiledTag struct {
	tagField
	compiled *engine.CompiledSchema
}

// tagRule compiles structural tags.
func (m *served) tagRule(c constraintFields) (*rule, error) {
	set := &tagSet{triggers: c.Triggers}
	var reports []compiledTool
	for _, t := range c.Tags {
		compiled, err := m.schemas.Compile(t.Schema, c.options())
		if err != nil {
			return nil, inField(err, t.Param)
		}
		set.tags = append(set.tags, compiledTag{t, compiled})
		reports = append(reports, compiledTool{tool: tool{Name: t.Begin}, compiled: compiled})
	}
	return &rule{
		kind: kindTags, report: mergeReports(reports), tags: set,
		check: func(msg *message) error { return set.check(msg.Content) },
	}, nil
}

// outline appends the text: free until a trigger, which one of the tags goes on.
// It also ends with the given stops.
func (s *tagSet) outline(o *outline, stops []stopMark) int {
	free := o.free(roleContent, true)
	for _, trigger := range s.triggers {
		var rest []stopMark
		next := end
		for _, t := range s.tags {
			if triggerOf(s.triggers, t.Begin) != trigger {
				continue
			}
			close := free
			if t.End != "" {
				close = o.add(node{Role: roleContent, Stops: []stopMark{{Mark: t.End, Next: free}}})
			}
			document := o.document(roleContent, t.compiled.Document(), close)
			if mark := t.Begin[len(trigger):]; mark != "" {
				rest = append(rest, stopMark{Mark: mark, Next: document})
			} else {
				next = document
			}
		}
		if rest != nil {
			next = o.add(node{Role: roleContent, Stops: rest})
		}
		if next != end {
			stops = append(stops, stopMark{Mark: trigger, Next: next})
		}
	}
	o.nodes[free].Stops, o.nodes[free].Keep = stops, true
	return free
}

// check validates what stands between the tags of a text.
func (s *tagSet) check(text string) error {
	for {
		at, tag := -1, (*compiledTag)(nil)
		for i := range s.tags {
			t := &s.tags[i]
			if k := strings.Index(text, t.Begin); k >= 0 && (at < 0 || k < at || k == at && len(t.Begin) > len(tag.Begin)) {
				at, tag = k, t
			}
		}
		if tag == nil {
			return nil
		}
		text = text[at+len(tag.Begin):]
		d := json.NewDecoder(strings.NewReader(text))
		var document json.RawMessage
		if err := d.Decode(&document); err != nil {
			return &engine.InvalidDocumentError{Issues: []schema.Issue{{Pointer: "/" + tag.Begin, Reason: "no JSON follows"}}}
		}
		text = text[d.InputOffset():]
		err := tag.compiled.Validate(document)
		var bad *engine.InvalidDocumentError
		switch {
		case errors.As(err, &bad):
			for i := range bad.Issues {
				bad.Issues[i].Pointer = "/" + tag.Begin + bad.Issues[i].Pointer
			}
			return bad
		case err != nil:
			return err
		case !strings.HasPrefix(text, tag.End):
			return &engine.InvalidDocumentError{Issues: []schema.Issue{{Pointer: "/" + tag.Begin, Reason: fmt.Sprintf("%q does not follow", tag.End)}}}
		}
		text = text[len(tag.End):]
	}
}
