package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"stencil/engine"
	"stencil/schema"
)

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
func tagRule(m *served, c constraintFields) (*rule, error) {
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
