package generation

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"stencil/engine"
	"stencil/schema"
	"stencil/server/problem"
	"stencil/server/registry"
	"stencil/server/request"
)

// A tagSet is compiled structural tags.
type tagSet struct {
	triggers []string
	tags     []compiledTag
}

type compiledTag struct {
	request.Tag
	compiled *engine.CompiledSchema
}

// tagRule compiles structural tags.
func tagRule(m *registry.Model, c request.Constraint) (*Constraint, error) {
	set := &tagSet{triggers: c.Triggers}
	var reports []CompiledTool
	for _, t := range c.Tags {
		compiled, err := m.Schemas.Compile(t.Schema, c.Options())
		if err != nil {
			return nil, problem.InField(err, t.Param)
		}
		set.tags = append(set.tags, compiledTag{t, compiled})
		reports = append(reports, CompiledTool{Tool: request.Tool{Name: t.Begin}, compiled: compiled})
	}
	return &Constraint{
		kind: request.KindTags, report: mergeReports(reports), tags: set,
		check: func(msg *Message) error { return set.check(msg.Content) },
	}, nil
}

// appendTo appends the text: free until a trigger, which one of the tags goes on.
// It also ends with the given stops.
func (s *tagSet) appendTo(o *builder, stops []stopMark) int {
	free := o.free(RoleContent, true)
	for _, trigger := range s.triggers {
		var rest []stopMark
		next := end
		for _, t := range s.tags {
			if request.TriggerOf(s.triggers, t.Begin) != trigger {
				continue
			}
			close := free
			if t.End != "" {
				close = o.add(Node{Role: RoleContent, Stops: []stopMark{{Mark: t.End, Next: free}}})
			}
			document := o.document(RoleContent, t.compiled.Document(), close)
			if mark := t.Begin[len(trigger):]; mark != "" {
				rest = append(rest, stopMark{Mark: mark, Next: document})
			} else {
				next = document
			}
		}
		if rest != nil {
			next = o.add(Node{Role: RoleContent, Stops: rest})
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
