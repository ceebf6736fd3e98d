package arguments

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/registry"
)

// strings returns the ways of writing the verbatim strings of an argument and, since they can't be told apart before they are read, of
// the values that stand between the same texts, whose types it removes. more reports whether there are keywords that masks don't
// enforce.
func (p *properties) strings(ctx context.Context, m *registry.Model, src json.RawMessage, name string, types map[string]bool) (out []layout.Way, more bool, err error) {
	form := &m.CallForm.Arguments
	text := form.Values[chat.StringValue]
	w := layout.Way{Open: text.Open, Close: text.Close, Text: true, Python: form.Values[chat.BooleanValue].Python}
	for _, t := range jsonTypes[1:] {
		if v := form.Values[t.of]; types[t.name] && v.Open == text.Open && v.Close == text.Close {
			w.Types = append(w.Types, t.name)
			delete(types, t.name)
			if v.Nested != nil {
				w.Notation = v.Nested
			}
		}
	}
	delete(types, "string")
	words, more := p.words(src, w.Types, w.Python)
	closing := strings.ReplaceAll(text.Close, chat.SlotKey, name)
	ends := []string{closing}
	if chat.IsQuote(closing) {
		ends = []string{closing + form.Between, closing + m.CallForm.After}
	}
	if text.Marked == nil {
		more, err = p.fill(ctx, m, &w, src, words, without(ends), more)
		return []layout.Way{w}, more || w.Types != nil && len(types) == 0 && w.Words == nil && w.JSON == nil && string(src) != "{}", err
	}
	// Strings with certain characters are written between other texts.
	chars := text.Marked.Chars
	class := `[` + strings.NewReplacer("\\", `\\`, "[", `\[`, "]", `\]`).Replace(chars) + `]`
	marked := layout.Way{Open: text.Marked.Open, Close: text.Marked.Close, Text: true}
	var usual, special []string
	for _, word := range words {
		if strings.ContainsAny(word, chars) {
			special = append(special, word)
		} else {
			usual = append(usual, word)
		}
	}
	if len(usual) > 0 || len(words) == 0 {
		only := append(without(ends), `(?![\s\S]*`+class+`)`)
		if w.Types != nil { // they may have such characters
			only = append(without(ends), `(?!`+regexp.QuoteMeta(strings.TrimPrefix(marked.Open, w.Open))+`)`)
		}
		some, err := p.fill(ctx, m, &w, src, usual, only, more)
		if err != nil {
			return nil, false, err
		}
		out, more = append(out, w), more || some
	}
	if len(special) > 0 || len(words) == 0 {
		only := append(without([]string{strings.ReplaceAll(marked.Close, chat.SlotKey, name)}), `(?=[\s\S]*`+class+`)`)
		some, err := p.fill(ctx, m, &marked, src, special, only, more)
		if err != nil {
			return nil, false, err
		}
		out, more = append(out, marked), more || some
	}
	return out, more, nil
}

// without returns patterns of texts in which some texts don't occur.
func without(ends []string) (only []string) {
	for _, end := range ends {
		if end != "" {
			only = append(only, `(?![\s\S]*`+regexp.QuoteMeta(end)+`)`)
		}
	}
	return only
}

// fill adds the constraint of texts to a way: some words or what the schema demands, of the texts that all patterns in only match.
// more reports whether something is left unchecked.
func (p *properties) fill(ctx context.Context, m *registry.Model, w *layout.Way, src json.RawMessage, words, only []string, more bool) (bool, error) {
	several := m.CallForm.Arguments.Values[chat.StringValue].Marked != nil // ways, which must be told from one another
	if len(words) > 0 || several {
		list, err := m.Grammars.Regex(ctx, strings.Join(only, "")+`[\s\S]*`)
		if err != nil {
			return false, err
		}
		words = slices.DeleteFunc(slices.Clone(words), func(word string) bool { return list.Validate(ctx, word) != nil })
		if several {
			document := list.Document()
			w.JSON = &document
		}
	}
	switch {
	case slices.Contains(words, ""): // no mark is empty
		choice, err := m.Grammars.Choice(ctx, words)
		if err != nil {
			return false, err
		}
		document := choice.Document()
		w.JSON = &document
	case len(words) > 0:
		w.Words, w.JSON = words, nil
	case w.Types == nil:
		demanded, some, err := p.text(ctx, m, src, only)
		if err != nil {
			return false, err
		}
		if more = some; demanded != nil {
			w.JSON = demanded
		}
	}
	return more, nil
}

// text returns the constraint of a verbatim string of a schema that has no enum, nil if there is none: from an anchored pattern
// or, without one, the length, and from the patterns of texts that can be read. more reports whether there are keywords that are
// checked afterwards.
func (p *properties) text(ctx context.Context, m *registry.Model, src json.RawMessage, only []string) (d *constraint.Document, more bool, err error) {
	var s struct {
		Pattern              *string
		MinLength, MaxLength *int
	}
	_, more = p.words(src, nil, false)
	if !more || json.Unmarshal(p.refer(src), &s) != nil {
		return nil, more, nil
	}
	pattern := ""
	switch {
	case s.Pattern != nil:
		if pattern = anchored(*s.Pattern); pattern == "" {
			return nil, true, nil
		}
	case s.MinLength == nil && s.MaxLength == nil:
		return nil, true, nil
	default:
		least, most := 0, ""
		if s.MinLength != nil {
			least = max(0, *s.MinLength)
		}
		if s.MaxLength != nil {
			most = strconv.Itoa(max(0, *s.MaxLength))
		}
		pattern = fmt.Sprintf(`[\s\S]{%d,%s}`, least, most)
	}
	compiled, err := m.Grammars.Regex(ctx, strings.Join(only, "")+pattern)
	if err != nil {
		if ctx.Err() != nil {
			return nil, true, err
		}
		return nil, true, nil // the validator knows further syntax
	}
	document := compiled.Document()
	return &document, true, nil
}

// anchored returns the inside of a pattern from ^ to $, "" if it isn't one.
func anchored(pattern string) string {
	inside, begins := strings.CutPrefix(pattern, "^")
	inside, ends := strings.CutSuffix(inside, "$")
	if !begins || !ends || strings.HasSuffix(inside, `\`) {
		return ""
	}
	return "(?:" + inside + ")"
}

// words returns the values that a schema enumerates as they are written as texts, nil if it doesn't; more reports whether it has
// keywords that are checked afterwards. Values may be strings and of the other types, whose names may be Python's.
func (p *properties) words(src json.RawMessage, others []string, python bool) (words []string, more bool) {
	var s map[string]json.RawMessage
	if p.steps++; p.steps > mostSteps || json.Unmarshal(p.refer(src), &s) != nil {
		return nil, false
	}
	for _, keyword := range []string{"anyOf", "oneOf"} { // of constants, as some libraries write enums
		var list []json.RawMessage
		if json.Unmarshal(s[keyword], &list) != nil || len(list) == 0 {
			continue
		}
		for _, one := range list {
			some, _ := p.words(one, others, python)
			types := p.types(one)
			if some == nil && len(types) == 1 && types["null"] && slices.Contains(others, "null") {
				some = []string{named(json.RawMessage("null"), python)}
			}
			if some == nil && (types["string"] || slices.ContainsFunc(others, func(name string) bool { return types[name] })) {
				return nil, true
			}
			words = append(words, some...)
		}
		return words, true
	}
	var list []json.RawMessage
	if data, ok := s["const"]; ok {
		list = []json.RawMessage{data}
	} else if json.Unmarshal(s["enum"], &list) != nil {
		list = nil
	}
	for _, x := range list {
		var value any
		if json.Unmarshal(x, &value) != nil {
			return nil, true
		}
		switch name := layout.TypeName(value); {
		case name == "string":
			words = append(words, value.(string))
		case !slices.Contains(others, name) && !(name == "number" && slices.Contains(others, "integer")):
		case name == "object" || name == "array":
			return nil, true // in which layout isn't known
		default:
			words = append(words, named(bytes.TrimSpace(x), python))
		}
	}
	for _, keyword := range []string{"pattern", "format", "minLength", "maxLength", "anyOf", "oneOf", "allOf", "not", "if"} {
		more = more || s[keyword] != nil
	}
	return words, more
}

// named returns the text of a value that is no string.
func named(value json.RawMessage, python bool) string {
	if name := map[string]string{"true": "True", "false": "False", "null": "None"}[string(value)]; python && name != "" {
		return name
	}
	return string(value)
}
