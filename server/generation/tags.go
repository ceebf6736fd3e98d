package generation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/request"
)

// A tagSet is a set of compiled structural tags.
type tagSet struct {
	triggers []string
	tags     []compiledTag
}

type compiledTag struct {
	request.Tag
	compiled *constraint.CompiledSchema
}

// tagRule compiles structural tags into a constraint.
func tagRule(ctx context.Context, m *registry.Model, c request.Constraint) (*Constraint, error) {
	set := &tagSet{triggers: c.Triggers}
	var reports []CompiledTool
	for _, t := range c.Tags {
		compiled, err := m.Schemas.Compile(ctx, t.Schema, c.Options())
		if err != nil {
			return nil, problem.InField(err, t.Param)
		}
		set.tags = append(set.tags, compiledTag{t, compiled})
		reports = append(reports, CompiledTool{Tool: request.Tool{Name: t.Begin}, compiled: compiled})
	}
	return &Constraint{
		kind: request.KindTags, report: mergeReports(reports), tags: set,
		check: func(ctx context.Context, msg *layout.Message) error { return set.check(ctx, msg.Content) },
	}, nil
}

// plan returns the tags for a layout.Plan.
func (s *tagSet) plan() *layout.Tags {
	var out layout.Tags
	for _, mark := range s.triggers {
		trigger := layout.Trigger{Mark: mark}
		for _, t := range s.tags {
			if request.TriggerOf(s.triggers, t.Begin) == mark {
				trigger.Tags = append(trigger.Tags, layout.Tag{Begin: t.Begin, End: t.End, Document: t.compiled.Document()})
			}
		}
		out = append(out, trigger)
	}
	return &out
}

// check validates the documents between the tags of a
// text.
func (s *tagSet) check(ctx context.Context, text string) error {
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
			return &constraint.InvalidDocumentError{Issues: []schema.Issue{{Pointer: "/" + tag.Begin, Reason: "no JSON follows"}}}
		}
		text = text[d.InputOffset():]
		err := tag.compiled.Validate(ctx, document)
		var bad *constraint.InvalidDocumentError
		switch {
		case errors.As(err, &bad):
			for i := range bad.Issues {
				bad.Issues[i].Pointer = "/" + tag.Begin + bad.Issues[i].Pointer
			}
			return bad
		case err != nil:
			return err
		case !strings.HasPrefix(text, tag.End):
			return &constraint.InvalidDocumentError{Issues: []schema.Issue{{Pointer: "/" + tag.Begin, Reason: fmt.Sprintf("%q does not follow", tag.End)}}}
		}
		text = text[len(tag.End):]
	}
}
