package generation

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/server/generation/arguments"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// toolInstruction describes the tools, and how to call them, to a model whose
// template can't.
func toolInstruction(tools []request.Tool, form chat.CallForm) string {
	var b strings.Builder
	fmt.Fprintf(&b, "You can call functions. A call is written %s with an object that fits its schema. Functions:", shownCall(form))
	for _, t := range tools {
		fmt.Fprintf(&b, "\n%s", t.Name)
		if t.Description != "" {
			fmt.Fprintf(&b, ": %s", t.Description)
		}
		var compact bytes.Buffer
		if json.Compact(&compact, t.Parameters) == nil {
			fmt.Fprintf(&b, "\n  schema: %s", compact.String())
		}
	}
	return b.String()
}

// shownCall returns an example of a call in a form, for the instruction.
func shownCall(form chat.CallForm) string {
	if len(form.Triggers) == 0 {
		return "to=functions.FUNCTION"
	}
	if form.Arguments.Tagged {
		if text, err := form.Write([]chat.ToolCall{{Name: "FUNCTION", Arguments: json.RawMessage(`{"ARGUMENT":"…"}`)}}); err == nil {
			return text
		}
	}
	t := form.Triggers[0]
	return t.Mark + t.Then + "FUNCTION" + form.Middle + "{…}" + form.After + form.Close
}

// A CompiledTool is a tool with its compiled schema: as given, and restricted to
// objects, which arguments always are.
type CompiledTool struct {
	request.Tool
	compiled  *constraint.CompiledSchema
	arguments constraint.Document
	natural   constraint.Document // in any layout, for calls in other forms
	each      arguments.Arguments // for a form that writes arguments one by one

	python, tagged []layout.Argument // for calls in other forms that do; nil: masks can't hold them to the schema
}

// compileTools compiles the arguments of every callable tool. Keywords that can't be
// enforced are left to the validator, since the sender of a request is often not the
// author of its tools. With open, arguments may have members that their schemas
// don't name. With foreign, calls may be in other models' forms.
func compileTools(ctx context.Context, m *registry.Model, tools []request.Tool, open, foreign bool) ([]CompiledTool, error) {
	out := make([]CompiledTool, 0, len(tools))
	for _, t := range tools {
		opt := schema.Options{OnUnsupported: schema.UnsupportedIsChecked, Strict: t.Strict, Closed: !open, Whitespace: whitespaceOf(m.CallForm.Arguments.Layout)}
		compiled, err := m.Schemas.Compile(ctx, t.Parameters, opt)
		if err != nil {
			return nil, problem.InField(err, t.Param)
		}
		object, err := arguments.ObjectOnly(t.Parameters)
		if err != nil {
			return nil, err
		}
		whole := compiled
		if object != nil {
			opt.Strict = false // already applied above
			if whole, err = m.Schemas.Compile(ctx, object, opt); err != nil {
				return nil, &wire.Error{Param: t.Param, Code: "unsatisfiable_schema", Message: t.Param + " must allow objects, which the arguments of a call are: " + err.Error()}
			}
		}
		c := CompiledTool{Tool: t, compiled: compiled, arguments: whole.Document()}
		opt.Strict, opt.Whitespace = false, schema.NaturalNested
		source := t.Parameters
		if object != nil {
			source = object
		}
		natural, err := m.Schemas.Compile(ctx, source, opt)
		if err != nil {
			return nil, problem.InField(err, t.Param)
		}
		c.natural = natural.Document()
		if foreign {
			if c.python, err = oneByOne(ctx, m, layout.PythonArguments, t, opt); err != nil {
				return nil, problem.InField(err, t.Param)
			}
			if c.tagged, err = oneByOne(ctx, m, layout.TaggedArguments, t, opt); err != nil {
				return nil, problem.InField(err, t.Param)
			}
		}
		opt.Whitespace = whitespaceOf(m.CallForm.Arguments.Layout)
		if m.CallForm.Arguments.Tagged {
			if c.each, err = arguments.Of(ctx, m, t, opt); err != nil {
				return nil, problem.InField(err, t.Param)
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// oneByOne returns the arguments of a tool for calls in another form, nil if masks can't hold these to the schema.
func oneByOne(ctx context.Context, m *registry.Model, form chat.ArgumentForm, t request.Tool, opt schema.Options) ([]layout.Argument, error) {
	other := *m
	other.CallForm.Arguments = form
	a, err := arguments.Of(ctx, &other, t, opt)
	switch {
	case ctx.Err() != nil:
		return nil, err
	case err != nil:
		return nil, nil // as a whole, the schema has been compiled: only an argument by itself can't be
	}
	for _, issue := range a.Checked {
		one := slices.IndexFunc(a.List, func(one layout.Argument) bool { return issue.Pointer == "/properties/"+one.Name })
		// Only named arguments are written, and a text of several types is always of one of them.
		if issue.Keyword != "additionalProperties" && (one < 0 || !slices.ContainsFunc(a.List[one].Ways, func(w layout.Way) bool { return w.Types != nil })) {
			return nil, nil
		}
	}
	return append([]layout.Argument{}, a.List...), nil
}

// whitespaceOf returns the whitespace option for a JSON layout.
func whitespaceOf(l chat.JSONLayout) schema.Whitespace {
	switch l {
	case chat.Spaced:
		return schema.Spaced
	case chat.Compact:
		return schema.Compact
	}
	return schema.Natural
}

// documentBeside returns the constraint of a document beside calls that are written as JSON: where it could begin as a call does,
// an object that is a call is no document. It returns nil for formats other than JSON, and for a schema with which that can't be
// compiled.
func documentBeside(ctx context.Context, m *registry.Model, format *Constraint, tools []CompiledTool) (*constraint.Document, error) {
	if format.compiled == nil {
		return nil, nil
	}
	var names []string
	ambiguous := false
	for _, t := range tools {
		names = append(names, t.Name)
		for _, opening := range layout.BesideOpenings(t.Name) {
			if ambiguous {
				break
			}
			n, err := format.compiled.Bound.NewMatcher().AcceptBytes(opening)
			ambiguous = err == nil && n == len(opening)
		}
	}
	if !ambiguous {
		return format.part, nil
	}
	both, err := arguments.Within(format.document, `"not":`+string(layout.Besides(names)))
	if err != nil {
		return nil, err
	}
	opt := format.options
	opt.Strict = false // applied to the format already
	compiled, err := m.Schemas.Compile(ctx, both, opt)
	if err != nil {
		return nil, ctx.Err()
	}
	part := compiled.Document()
	return &part, nil
}

// toolRule compiles the constraint of a text with required or optional calls.
func toolRule(ctx context.Context, m *registry.Model, set *request.ToolSet, format *Constraint, open, foreign bool) (*Constraint, error) {
	tools, err := compileTools(ctx, m, set.Callable(), open, foreign && set.Mode != request.ToolsRequired && format == nil)
	if err != nil {
		return nil, err
	}
	r := &Constraint{kind: "tools", report: mergeReports(tools), Tools: tools, Must: set.Mode == request.ToolsRequired, Parallel: set.Parallel}
	if format != nil && format.tags != nil {
		return nil, &wire.Error{Param: "tools", Code: "two_constraints", Message: "tools and structural tags exclude each other"}
	}
	if format != nil && (format.part != nil || m.Unmasked != "") && !r.Must {
		r.format = format
		if format.kind != "json" || m.Unmasked != "" {
			r.Instruction, r.named = format.Instruction, format.named
		}
		if foreign && m.Unmasked == "" && format.part != nil {
			if r.beside, err = documentBeside(ctx, m, format, tools); err != nil {
				return nil, err
			}
		}
	}
	r.check = func(ctx context.Context, msg *layout.Message) error { return checkCalls(ctx, tools, msg) }
	return r, nil
}

// mergeReports combines the reports of all tools. Pointers begin with the tool's
// name; the hash covers all names and hashes.
func mergeReports(tools []CompiledTool) schema.Report {
	h := sha256.New()
	var out schema.Report
	for _, t := range tools {
		r := t.compiled.Report
		fmt.Fprintf(h, "%s %s\n", t.Name, r.Hash)
		for _, k := range r.Enforced {
			if !slices.Contains(out.Enforced, k) {
				out.Enforced = append(out.Enforced, k)
			}
		}
		add := func(to *[]schema.Issue, from []schema.Issue) {
			for _, i := range from {
				i.Pointer = "/" + t.Name + i.Pointer
				*to = append(*to, i)
			}
		}
		out.Closed = out.Closed || r.Closed
		add(&out.Checked, r.Checked)
		add(&out.Checked, t.each.Checked)
		add(&out.Ignored, r.Ignored)
		add(&out.Warnings, r.Warnings)
		add(&out.Warnings, t.each.Warned)
	}
	out.Hash = fmt.Sprintf("sha256:%x", h.Sum(nil))
	return out
}

// checkCalls validates the arguments of all calls.
func checkCalls(ctx context.Context, tools []CompiledTool, msg *layout.Message) error {
	var all constraint.InvalidDocumentError
	for _, c := range msg.Calls {
		i := slices.IndexFunc(tools, func(t CompiledTool) bool { return t.Name == c.Name })
		if i < 0 {
			all.Issues = append(all.Issues, schema.Issue{Pointer: "/name", Reason: fmt.Sprintf("there is no tool %q", c.Name)})
			continue
		}
		err := tools[i].compiled.Validate(ctx, []byte(c.Arguments))
		var bad *constraint.InvalidDocumentError
		if errors.As(err, &bad) {
			for _, issue := range bad.Issues {
				issue.Pointer = "/" + c.Name + issue.Pointer
				all.Issues = append(all.Issues, issue)
			}
		} else if err != nil {
			return err
		}
	}
	if len(all.Issues) > 0 {
		return &all
	}
	return nil
}

// Check validates arguments and returns their issues.
func (t *CompiledTool) Check(ctx context.Context, arguments []byte) ([]schema.Issue, error) {
	var bad *constraint.InvalidDocumentError
	switch err := t.compiled.Validate(ctx, arguments); {
	case errors.As(err, &bad):
		return bad.Issues, nil
	case err != nil:
		return nil, err
	}
	if !bytes.HasPrefix(bytes.TrimSpace(arguments), []byte("{")) {
		return []schema.Issue{{Keyword: "type", Reason: "arguments must be an object"}}, nil
	}
	return nil, nil
}
