package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// This file determines how a template writes tool calls, by rendering known calls and
// comparing the results.

// Texts to find in rendered conversations. The IDs are as long as Mistral's.
const (
	askedUser    = "stencil7c1e"
	askedAnswer  = "stencil93ab"
	askedThought = "stencil41d7"
	askedTool    = "stencilfn1"
	askedTool2   = "stencilfn2"
	askedKey     = "stencilka"
	askedKey2    = "stencilkb"
	askedText    = "stencilva"
	askedText2   = "stencilvb"
	askedID      = "abcdefghi"
	askedID2     = "jklmnopqr"
	askedID3     = "stuvwxyza"
)

// askedTools declares the tools in the calls.
var askedTools = func() (out []json.RawMessage) {
	for _, name := range []string{askedTool, askedTool2} {
		out = append(out, json.RawMessage(`{"type":"function","function":{"name":"`+name+`","description":"x","parameters":{"type":"object","properties":{"`+
			askedKey+`":{"type":"string","description":"x"},"`+askedKey2+`":{"type":"string","description":"x"}},"required":["`+askedKey+`"]}}}`))
	}
	return out
}()

// asker renders test conversations with one template.
type asker struct {
	t      *Template
	turn   string // text before an answer that begins with a call
	end    string // text after an answer
	frames string // an answer with reasoning and the text around it
	answer string // text between turn and an answer
	tools  []json.RawMessage
}

// say renders an assistant message that answers the user.
func (a *asker) say(m Message) (string, error) {
	m.Role = "assistant"
	return a.t.render(Input{Messages: []Message{{Role: "user", Content: askedUser}, m}, Tools: a.tools})
}

// calls renders tool calls.
func (a *asker) calls(calls ...ToolCall) (string, error) { return a.say(Message{ToolCalls: calls}) }

func askedCall(id, name, arguments string) ToolCall {
	return ToolCall{ID: id, Name: name, Arguments: json.RawMessage(arguments)}
}

// askCalls returns the form in which the template writes calls, or an error that says
// why there is none.
func (t *Template) askCalls() (CallForm, error) {
	f, err := t.askWith(askedTools)
	if err != nil && !t.caps.Tools {
		if g, other := t.askWith(nil); other == nil {
			return g, nil
		}
	}
	return f, err
}

func (t *Template) askWith(tools []json.RawMessage) (f CallForm, err error) {
	a := &asker{t: t, tools: tools}
	one, err := a.calls(askedCall(askedID, askedTool, `{"`+askedKey+`":"`+askedText+`"}`))
	if err != nil {
		return f, fmt.Errorf("it doesn't write a call: %w", err)
	}
	if err := a.frame(one); err != nil {
		return f, err
	}
	rest, ok := strings.CutPrefix(one, a.turn)
	if !ok {
		return f, fmt.Errorf("calls don't begin where answers do")
	}
	lead, body, ok := strings.Cut(rest, askedTool)
	if !ok {
		return f, fmt.Errorf("it doesn't write the name of a tool that is called")
	}
	if after := afterThoughts(lead); after != lead {
		lead = strings.TrimLeft(after, " \n") // the text before an answer follows the reasoning of any answer
	}
	var tail string
	if f.Middle, tail, err = a.jsonArguments(body, &f.Arguments); err != nil {
		if f.Middle, tail, err = a.taggedArguments(body, &f.Arguments); err != nil {
			return f, err
		}
	}
	if tail, err = a.withoutEnd(tail); err != nil {
		return f, err
	}
	if err := a.several(&f, lead, tail); err != nil {
		return f, err
	}
	if err := a.place(&f); err != nil {
		return f, err
	}
	f.Name = f.familyName()
	if f.HasSlot(SlotID) || strings.Contains(t.source, "9 characters") || strings.Contains(t.source, "length 9") {
		f.IDs = len(askedID)
	}
	if g, ok := a.withNotation(f); ok {
		return g, nil
	}
	if err = a.confirm(f); err != nil && !f.Arguments.Tagged {
		// It may write JSON in its own way, but texts verbatim.
		f.Arguments.put = putText
		if a.confirm(f) == nil {
			return f, nil
		}
	}
	return f, err
}

// frame determines the text around an answer.
func (a *asker) frame(call string) error {
	plain, err := a.say(Message{Content: askedAnswer})
	if err != nil {
		return fmt.Errorf("it doesn't write an answer: %w", err)
	}
	before, after, ok := cutLast(plain, askedAnswer)
	if !ok {
		return fmt.Errorf("it doesn't write answers as they are")
	}
	a.end = after
	_, a.frames, _ = cutLast(plain, askedUser)
	if text, err := a.say(Message{Content: askedAnswer, Reasoning: askedThought}); err == nil {
		_, text, _ = cutLast(text, askedUser)
		a.frames += text
	}
	begun, err := a.t.render(Input{Messages: []Message{{Role: "user", Content: askedUser}}, Tools: a.tools, AddGenerationPrompt: true})
	if err != nil {
		return fmt.Errorf("it doesn't begin an answer: %w", err)
	}
	switch {
	case strings.HasPrefix(call, begun):
		a.turn = begun
		if rest, ok := strings.CutPrefix(before, begun); ok {
			a.answer = rest
		}
	case strings.HasPrefix(call, before):
		a.turn = before
	default:
		n := commonPrefix(call, begun)
		if at := strings.LastIndexByte(call[:n], '<'); at >= 0 && !strings.Contains(call[at:n], ">") {
			n = at
		}
		a.turn = call[:n]
	}
	return nil
}

// thoughtEnds are texts that may precede calls without belonging to them.
var thoughtEnds = []string{"</think>", "<channel|>", "</mm:think>", "</think:opensource>", "<|close|>response<|sep|>", "[BEGIN FINAL RESPONSE]"}

// afterThoughts returns the text after the end of reasoning.
func afterThoughts(text string) string {
	for _, end := range thoughtEnds {
		if _, after, ok := cutLast(text, end); ok {
			text = after
		}
	}
	return text
}

// jsonArguments parses arguments as a JSON object and returns the text between the
// name and the arguments, and the text after them.
func (a *asker) jsonArguments(body string, f *ArgumentForm) (middle, tail string, err error) {
	none := fmt.Errorf("arguments are no JSON object")
	before, _, ok := strings.Cut(body, `"`+askedKey+`"`)
	if !ok {
		return "", "", none
	}
	middle, ok = strings.CutSuffix(strings.TrimRight(before, " \n"), "{")
	if !ok {
		return "", "", none
	}
	value, size, ok := jsonAt(body[len(middle):])
	if !ok || value != askedText {
		return "", "", none
	}
	tail = body[len(middle)+size:]
	f.Layout = a.layout()
	return middle, tail, nil
}

// jsonAt parses the object at the start of a text and returns its only value and its
// size.
func jsonAt(text string) (value string, size int, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	var object map[string]string
	if d.Decode(&object) != nil || len(object) != 1 {
		return "", 0, false
	}
	return object[askedKey], int(d.InputOffset()), true
}

// layout determines the white space that the template writes in JSON.
func (a *asker) layout() JSONLayout {
	text, err := a.calls(askedCall(askedID, askedTool, `{"`+askedKey+`":[1,2],"`+askedKey2+`":{"x":1}}`))
	switch {
	case err != nil:
	case strings.Contains(text, `{"`+askedKey+`": [1, 2], "`+askedKey2+`": {"x": 1}}`):
		return Spaced
	case strings.Contains(text, `{"`+askedKey+`":[1,2],"`+askedKey2+`":{"x":1}}`):
		return Compact
	}
	return AnyLayout
}

// taggedArguments parses arguments that are written one by one.
func (a *asker) taggedArguments(body string, f *ArgumentForm) (middle, tail string, err error) {
	f.Tagged = true
	two, err := a.bodyOf(`{"` + askedKey2 + `":"` + askedText2 + `","` + askedKey + `":"` + askedText + `"}`)
	if err != nil {
		return "", "", err
	}
	f.Sorted = strings.Index(two, askedKey) < strings.Index(two, askedKey2)
	if two, err = a.bodyOf(`{"` + askedKey + `":"` + askedText + `","` + askedKey2 + `":"` + askedText2 + `"}`); err != nil {
		return "", "", err
	}
	empty, err := a.bodyOf(`{}`)
	if err != nil {
		return "", "", err
	}
	first, rest, ok1 := strings.Cut(two, askedKey)
	open, rest, ok2 := strings.Cut(rest, askedText)
	between, rest, ok3 := strings.Cut(rest, askedKey2)
	open2, last, ok4 := strings.Cut(rest, askedText2)
	if !ok1 || !ok2 || !ok3 || !ok4 || open != open2 {
		return "", "", fmt.Errorf("arguments are neither a JSON object nor written one by one")
	}
	// A closing tag may repeat the name of the argument.
	between, last = strings.ReplaceAll(between, askedKey, SlotKey), strings.ReplaceAll(last, askedKey2, SlotKey)
	if last, err = a.withoutEnd(last); err != nil {
		return "", "", err
	}
	if empty, err = a.withoutEnd(empty); err != nil {
		return "", "", err
	}
	found := false
	var closing, after string
	// first = middle + Key, between = closing + Between + Key, last = closing + after,
	// empty = middle + after
	loose := false // the text for no arguments may be different
	try := func(n int) bool {
		key := first[len(first)-n:]
		gap, ok := strings.CutSuffix(between, key)
		if !ok || found {
			return false
		}
		c := gap[:commonPrefix(gap, last)]
		m, aft := first[:len(first)-n], last[len(c):]
		if m+aft != empty {
			own, ok := strings.CutPrefix(empty, m)
			own, ok2 := strings.CutSuffix(own, aft)
			if !loose || !ok || !ok2 || strings.TrimSpace(own) != "" {
				return false
			}
			f.Empty = own
		}
		found = true
		middle, closing, after = m, c, aft
		f.Key, f.Between = key, gap[len(c):]
		return true
	}
	f.Empty = ""
	shared := commonSuffix(first, between)
	for _, loose = range []bool{false, true} {
		for n := range shared + 1 { // preferably a mark that begins with a tag
			if n > 0 && beginsMark(first, len(first)-n) && try(n) {
				break
			}
		}
		for n := range shared + 1 {
			if try(n) {
				break
			}
		}
	}
	if !found {
		return "", "", fmt.Errorf("what stands around arguments depends on how many there are")
	}
	f.Values[StringValue] = ValueForm{Open: open, Close: closing, Raw: true}
	if f.Values[StringValue].Marked, err = a.marked(f); err != nil {
		return "", "", err
	}
	f.Layout = Spaced
	for _, v := range []struct {
		of      ValueType
		example string
	}{
		{IntegerValue, "734519"}, {NumberValue, "73.519"}, {BooleanValue, "true"}, {NullValue, "null"},
		{ObjectValue, `{"stencilx": [1, "y", null, true]}`}, {ArrayValue, `[1, "stencily", {"z": false}]`},
	} {
		if f.Values[v.of], err = a.value(f, v.of, v.example); err != nil {
			return "", "", err
		}
	}
	return middle, closing + after, nil
}

// beginsMark reports whether a tag begins at an offset of a text, and not within another mark.
func beginsMark(text string, at int) bool {
	if strings.HasPrefix(text[at:], miniMaxMark) {
		return true
	}
	return text[at] == '<' && (at == 0 || text[at-1] != '[' && text[at-1] != ']')
}

// miniMaxMark begins the token before each of MiniMax's tags.
const miniMaxMark = "]<]"

// bodyOf renders a call and returns the text after its name.
func (a *asker) bodyOf(arguments string) (string, error) {
	text, err := a.calls(askedCall(askedID, askedTool, arguments))
	if err != nil {
		return "", fmt.Errorf("it doesn't write a call: %w", err)
	}
	if rest, ok := strings.CutPrefix(text, a.turn); ok {
		if _, body, ok := strings.Cut(rest, askedTool); ok {
			return body, nil
		}
	}
	return "", fmt.Errorf("calls with other arguments begin otherwise")
}

// value determines how values of a type are written between arguments.
func (a *asker) value(f *ArgumentForm, of ValueType, example string) (ValueForm, error) {
	asText := f.Values[StringValue]
	asText.Raw, asText.put = false, putText
	body, err := a.bodyOf(`{"` + askedKey + `":` + example + `,"` + askedKey2 + `":"` + askedText2 + `"}`)
	if err != nil {
		return asText, err
	}
	_, rest, ok := strings.Cut(body, askedKey)
	middle, _, ok2 := cutLast(rest, askedKey2+f.Values[StringValue].Open+askedText2)
	if middle, ok3 := strings.CutSuffix(middle, f.Between+f.Key); ok && ok2 && ok3 {
		if open, closing, ok := cutLast(middle, example); ok {
			return ValueForm{Open: open, Close: strings.ReplaceAll(closing, askedKey, SlotKey)}, nil
		}
		var value any
		if json.Unmarshal([]byte(example), &value) == nil && (of == BooleanValue || of == NullValue) {
			if open, closing, ok := cutLast(middle, pythonName(value)); ok {
				return ValueForm{Open: open, Close: strings.ReplaceAll(closing, askedKey, SlotKey), Python: true}, nil
			}
		}
	}
	// The template writes such values in its own way. It is given their JSON, as a string
	// if strings have no quotes.
	if number := f.Values[IntegerValue]; of > IntegerValue && (number.Open != asText.Open || number.Close != asText.Close) && number.put == putValue {
		number.put = putVerbatim
		return number, nil
	}
	return asText, nil
}

// markedChars are characters that a template may write in another way than others.
const markedChars = "<>&\"'\n\t\\{}[]"

// marked determines whether strings with some characters are written between other texts.
func (a *asker) marked(f *ArgumentForm) (*Marked, error) {
	usual := f.Values[StringValue]
	var m *Marked
	for _, c := range markedChars {
		text := askedText + string(c) + askedText
		quoted, err := json.Marshal(text)
		if err != nil {
			return nil, err
		}
		body, err := a.bodyOf(`{"` + askedKey + `":` + string(quoted) + `,"` + askedKey2 + `":"` + askedText2 + `"}`)
		if err != nil {
			return nil, err
		}
		_, rest, _ := strings.Cut(body, askedKey)
		middle, _, _ := cutLast(rest, f.Between+f.Key+askedKey2+usual.Open+askedText2)
		open, closing, ok := strings.Cut(middle, text)
		closing = strings.ReplaceAll(closing, askedKey, SlotKey)
		switch {
		case !ok || open == usual.Open && closing == usual.Close:
		case m == nil:
			m = &Marked{Chars: string(c), Open: open, Close: closing}
		case m.Open == open && m.Close == closing:
			m.Chars += string(c)
		default:
			return nil, fmt.Errorf("texts are written in more than two ways")
		}
	}
	return m, nil
}

// withoutEnd returns the text after a call without the end of the answer.
func (a *asker) withoutEnd(tail string) (string, error) {
	if rest, ok := strings.CutSuffix(tail, a.end); ok {
		return rest, nil
	}
	n := commonSuffix(tail, a.end)
	// Not within a tag, and not before the tag that ends another one.
	for n > 0 && n < len(tail) && (strings.IndexByte("<[\n", tail[len(tail)-n]) < 0 || isWord(tail[len(tail)-n-1])) {
		n--
	}
	return tail[:len(tail)-n], nil
}

// several determines the text between calls; tail is the text after the arguments of a
// single call. Lead receives the text before the first name.
func (a *asker) several(f *CallForm, lead, tail string) error {
	f.Lead = strings.ReplaceAll(lead, askedID, SlotID)
	f.Middle = strings.ReplaceAll(strings.ReplaceAll(f.Middle, askedID, SlotID), askedTool, SlotName)
	f.After = strings.ReplaceAll(strings.ReplaceAll(tail, askedID, SlotID), askedTool, SlotName)
	if f.Arguments.Tagged {
		f.After = strings.TrimPrefix(f.After, f.Arguments.Values[StringValue].Close)
	}
	const arguments = `{"` + askedKey + `":"` + askedText + `"}`
	written, err := f.Arguments.write(json.RawMessage(arguments))
	if err != nil {
		return err
	}
	three, err := a.calls(askedCall(askedID, askedTool, arguments), askedCall(askedID2, askedTool2, arguments), askedCall(askedID3, askedTool, arguments))
	if err != nil || strings.Count(three, written) < 3 && f.Arguments.Layout != AnyLayout {
		return nil // one at a time
	}
	rest := strings.TrimPrefix(three, a.turn)
	_, rest, _ = strings.Cut(rest, askedTool)
	_, rest, ok := cutArguments(rest, written)
	gap, rest, ok2 := strings.Cut(rest, askedTool2)
	middle2, rest, ok3 := cutArguments(rest, written)
	gap2, _, ok4 := strings.Cut(rest, askedTool)
	if !ok || !ok2 || !ok3 || !ok4 {
		return nil
	}
	gap, gap2 = strings.ReplaceAll(gap, askedID2, SlotID), strings.ReplaceAll(gap2, askedID3, SlotID)
	gap, gap2 = strings.ReplaceAll(gap, askedID, SlotID), strings.ReplaceAll(gap2, askedID2, SlotID)
	gap, gap2 = strings.ReplaceAll(gap, askedTool, SlotName), strings.ReplaceAll(gap2, askedTool2, SlotName)
	middle2 = strings.ReplaceAll(strings.ReplaceAll(middle2, askedID2, SlotID), askedTool2, SlotName)
	// Numbers of calls.
	for _, s := range []struct{ slot, first, second, third string }{{SlotIndex, "0", "1", "2"}, {SlotCount, "1", "2", "3"}} {
		if f.Middle != middle2 {
			if m, ok := numbered(f.Middle, middle2, s.first, s.second, s.slot); ok {
				f.Middle, middle2 = m, m
			}
		}
		if gap != gap2 {
			if g, ok := numbered(gap, gap2, s.second, s.third, s.slot); ok {
				gap, gap2 = g, g
				if i := strings.LastIndex(f.Lead, s.first); i >= 0 {
					f.Lead = f.Lead[:i] + s.slot + f.Lead[i+1:]
				}
			}
		}
	}
	if f.Middle != middle2 || gap != gap2 {
		return fmt.Errorf("what stands between calls depends on which they are")
	}
	n := commonPrefix(gap, f.After)
	if at := strings.LastIndexByte(gap[:n], '<'); at >= 0 && n < max(len(gap), len(f.After)) && !strings.Contains(gap[at:n], ">") {
		n = at
	}
	for n > 0 && (n < len(gap) && gap[n]&0xc0 == 0x80) {
		n--
	}
	f.After, f.Close, f.Next = f.After[:n], f.After[n:], gap[n:]
	if f.Next == "" {
		return fmt.Errorf("nothing stands between calls")
	}
	return nil
}

// numbered inserts a slot where two texts differ in a number.
func numbered(a, b, first, second, slot string) (string, bool) {
	n, m := commonPrefix(a, b), commonSuffix(a, b)
	if n+m+1 != len(a) || n+m+1 != len(b) || a[n:n+1] != first || b[n:n+1] != second {
		return "", false
	}
	return a[:n] + slot + a[n+1:], true
}

// cutArguments cuts a text around the arguments in it. If the template has its own
// layout, they are found by parsing.
func cutArguments(text, written string) (before, after string, ok bool) {
	if before, after, ok = strings.Cut(text, written); ok {
		return before, after, true
	}
	at := strings.IndexByte(text, '{')
	key := strings.Index(text, `"`+askedKey+`"`)
	for at >= 0 && at < key {
		if _, size, ok := jsonAt(text[at:]); ok {
			return text[:at], text[at+size:], true
		}
		next := strings.IndexByte(text[at+1:], '{')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return "", "", false
}

// place splits the text before the first name, which several left in Lead, into white
// space, the text that begins a call in free text, and the rest.
func (a *asker) place(f *CallForm) error {
	before := f.Lead
	mark := strings.TrimLeft(before, " \n")
	f.Lead = before[:len(before)-len(mark)]
	if len(mark) < 4 && a.address(f, before) {
		return nil
	}
	if mark == "" {
		return fmt.Errorf("nothing stands before the name of a tool")
	}
	size := tagAt(mark)
	switch {
	case size > 0:
		for strings.Contains(a.frames, mark[:size]) && size < len(mark) { // the tag begins other messages too
			next := strings.IndexAny(mark[size:], ">]")
			if next < 0 {
				next = len(mark) - size - 1
			}
			size += next + 1
		}
		f.Triggers = []Trigger{{Mark: mark[:size], Then: mark[size:]}}
	case mark[0] == '{':
		// As in Llama's format, which has no mark: only at the start.
		if size = strings.IndexByte(mark, ':') + 1; size == 0 {
			return fmt.Errorf("calls begin like any JSON")
		}
		f.Triggers = []Trigger{{Mark: mark[:size], AtStart: true, Then: mark[size:]}}
		if strings.Contains(f.Middle, `"parameters"`) {
			f.Triggers = append(f.Triggers, Trigger{Mark: pythonTag, Then: mark})
		}
	case len(mark) >= 4:
		size = len(mark)
		if at := strings.IndexAny(mark, "\n\uE000\uE001\uE002\uE003"); at > 3 {
			size = at
		}
		f.Triggers = []Trigger{{Mark: mark[:size], AtLine: true, Then: mark[size:]}}
	default:
		return fmt.Errorf("calls begin like any text")
	}
	if strings.ContainsAny(f.Triggers[0].Mark, "\uE000\uE001\uE002\uE003") {
		return fmt.Errorf("calls begin with another text each time")
	}
	return nil
}

// address reports whether calls and answers begin alike, with whom they address, and then fills in the form; before is the text before
// the first name.
func (a *asker) address(f *CallForm, before string) bool {
	if a.answer == "" || f.Next == "" || !strings.HasPrefix(a.answer, before) {
		return false
	}
	mark := f.Next[len(f.Next)-commonSuffix(a.turn+before, f.Next):]
	if at := strings.IndexByte(mark, '<'); at > 0 && strings.HasSuffix(f.Next[:len(f.Next)-len(mark)+at], ">") {
		mark = mark[at:]
	}
	f.Answer, f.Call, f.Lead = a.answer, before, ""
	f.Triggers = []Trigger{{Mark: mark}}
	return mark != ""
}

// pythonTag begins Llama's calls after text.
const pythonTag = "<|python_tag|>"

// tagAt returns the size of the tag at the start of a text, 0 if there is none. With
// consecutive tags it is the first that is a name; if a tag holds the tool's name, it
// is the text up to the name.
func tagAt(text string) int {
	for _, pair := range []struct{ open, end byte }{{'<', '>'}, {'[', ']'}} {
		if text[0] != pair.open || len(text) < 4 {
			continue
		}
		if pair.open == '[' && !strings.HasPrefix(strings.ToUpper(text), text[:4]) {
			continue // [TOOL_CALLS], and not a list
		}
		if end := strings.IndexByte(text, pair.end); end > 0 {
			return end + 1
		}
		return len(text)
	}
	if strings.HasPrefix(text, miniMaxMark) {
		if at := strings.Index(text, "[<"); at > 0 {
			if end := strings.IndexByte(text[at:], '>'); end > 0 {
				return at + end + 1
			}
		}
	}
	return 0
}

// confirm renders calls with the template and compares the result with the form.
func (a *asker) confirm(f CallForm) error {
	for _, calls := range Battery(f) {
		want, err := f.Write(calls)
		if err != nil {
			return err
		}
		text, err := a.t.renderAs(Input{Messages: []Message{{Role: "user", Content: askedUser}, {Role: "assistant", ToolCalls: calls}}, Tools: a.tools}, f)
		if err != nil {
			return fmt.Errorf("it doesn't write a call: %w", err)
		}
		if f.Arguments.Layout == AnyLayout {
			if text, want = squeezed(text), squeezed(want); strings.Contains(text, want) {
				continue
			}
		}
		_, after, ok := cutLast(text, want)
		if !ok {
			return fmt.Errorf("it writes other calls than %q", want)
		}
		if strings.Contains(after, calls[len(calls)-1].Name) {
			return fmt.Errorf("after calls it writes %q", after)
		}
	}
	return nil
}

// squeezed returns a text without white space.
func squeezed(text string) string { return strings.Join(strings.Fields(text), "") }

// Battery returns calls that test a form: all types, and texts that are difficult to
// write.
func Battery(f CallForm) [][]ToolCall {
	all := [][]ToolCall{
		{askedCall(askedID, askedTool, `{}`)},
		{askedCall(askedID, askedTool, `{"a":"x","b":5,"c":true,"d":null,"e":{"x":[1,"y",{}],"z":[]},"f":[1,"q",[true,null]],"g":-1.5}`)},
		{askedCall(askedID, askedTool, `{"a":"It's \"so\":\n  {nice} & <b>\\ é 日本 😀","b":false}`)},
		{askedCall(askedID, askedTool, `{"z":"last first","a":""}`)},
		{askedCall(askedID, askedTool, `{"a":{},"b":[]}`)},
	}
	if f.Next == "" {
		return all
	}
	return append(all,
		[]ToolCall{askedCall(askedID, askedTool, `{"a":"x"}`), askedCall(askedID2, askedTool2, `{}`)},
		[]ToolCall{askedCall(askedID, askedTool, `{}`), askedCall(askedID2, askedTool2, `{"b":[1]}`), askedCall(askedID3, askedTool, `{"a":"y","c":1}`)})
}

// familyName returns a name for the form: that of its family if known, or one derived
// from its mark.
func (f *CallForm) familyName() string {
	for _, known := range callForms {
		if f.like(known.CallForm) {
			return known.Name
		}
	}
	name := nameOf(f.Triggers[0].Mark)
	if f.Answer != "" {
		name = "addressed"
	}
	if f.Arguments.Tagged {
		return name + "-tagged"
	}
	return name
}

// nameOf returns the last name in a mark.
func nameOf(mark string) string {
	words := strings.FieldsFunc(mark, func(r rune) bool {
		return r != '_' && r != ':' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	for _, w := range slices.Backward(words) {
		if len(w) > 3 { // no <|sep|>
			return strings.ToLower(w)
		}
	}
	return "unnamed"
}

// like reports whether a form equals another one except for white space.
func (f *CallForm) like(g CallForm) bool {
	if f.Arguments.Tagged || len(g.Triggers) == 0 {
		return false
	}
	t, u := f.Triggers[0], g.Triggers[0]
	bare := func(s string) string { return squeezed(strings.ReplaceAll(s, SlotID, "")) }
	return bare(t.Mark+t.Then) == bare(u.Mark+u.Then) && bare(f.Middle) == bare(g.Middle)
}

func cutLast(text, sep string) (before, after string, ok bool) {
	at := strings.LastIndex(text, sep)
	if at < 0 || sep == "" {
		return text, "", false
	}
	return text[:at], text[at+len(sep):], true
}

func isWord(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// askThoughts returns the form in which the template writes reasoning, if it does.
func (t *Template) askThoughts() (f ThoughtForm, ok bool) {
	answer := Message{Content: askedAnswer}
	call := Message{ToolCalls: []ToolCall{askedCall(askedID, askedAnswer, "{}")}}
	var a asker
	for _, try := range []struct {
		Message
		tools []json.RawMessage
	}{{answer, nil}, {answer, askedTools}, {call, askedTools}} {
		a = asker{t: t, tools: try.tools}
		if f, ok = a.thoughtsBefore(try.Message); ok {
			break
		}
	}
	if !ok {
		return ThoughtForm{}, false
	}
	a.tools = askedTools
	if before, found := a.thoughtsBefore(call); found && before.Open == f.Open && before.Close == f.Close {
		f.CallGap = &before.Gap
	}
	return f, true
}

// thoughtsBefore returns the form of reasoning before a message, which contains askedAnswer. The gap before a call is only
// white space.
func (a *asker) thoughtsBefore(m Message) (ThoughtForm, bool) {
	tools := a.tools
	if len(m.ToolCalls) > 0 {
		a.tools = nil
	}
	without, err := a.say(m)
	a.tools = tools
	if err != nil {
		return ThoughtForm{}, false
	}
	m.Reasoning = askedThought
	text, err := a.say(m)
	if err != nil {
		return ThoughtForm{}, false
	}
	_, text, ok := cutLast(text, askedUser)
	_, without, ok2 := cutLast(without, askedUser)
	before, after, ok3 := strings.Cut(text, askedThought)
	if !ok || !ok2 || !ok3 {
		return ThoughtForm{}, false
	}
	gap, _, ok := strings.Cut(after, askedAnswer)
	if !ok {
		return ThoughtForm{}, false
	}
	open := strings.TrimRight(before, " \n")
	from := strings.LastIndexAny(open, "<[")
	for from > 0 && isCommon(without, open[from:]) {
		from = strings.LastIndexAny(open[:from], "<[")
	}
	f := ThoughtForm{Lead: before[len(open):]}
	closing := strings.TrimLeft(gap, " \n")
	size := 0
	for {
		next := strings.IndexAny(closing[size:], ">]")
		if next < 0 {
			break
		}
		if size += next + 1; !isCommon(without, closing[:size]) {
			f.Close = closing[:size]
			break
		}
	}
	if from < 0 || f.Close == "" {
		return ThoughtForm{}, false
	}
	f.Open = open[from:]
	f.Gap = closing[len(f.Close):]
	a.addressed(&f)
	if len(m.ToolCalls) > 0 {
		f.Gap = f.Gap[:len(f.Gap)-len(strings.TrimLeft(f.Gap, " \n"))]
	}
	f.Name = nameOf(f.Open)
	for _, known := range thoughtForms {
		if known.Open == f.Open {
			f.Name = known.Name
		}
	}
	return f, true
}

// addressed removes from a form what the prompt has written before reasoning, as it has before any answer, and adds it to the mark
// after it.
func (a *asker) addressed(f *ThoughtForm) {
	prompt, err := a.t.render(Input{Messages: []Message{{Role: "user", Content: askedUser}}, Tools: a.tools, AddGenerationPrompt: true})
	if err != nil {
		return
	}
	for n := min(len(f.Open)-1, len(prompt)); n > 0; n-- {
		if begun := f.Open[:n]; strings.HasPrefix(f.Gap, begun) && strings.HasSuffix(prompt, begun) {
			f.Open, f.Close, f.Gap = f.Open[n:], f.Close+begun, ""
			return
		}
	}
}

// isCommon reports whether a text that may be a mark of reasoning occurs around other
// answers too.
func isCommon(without, mark string) bool {
	return strings.Contains(without, mark) && !strings.Contains(mark, "think") && !strings.Contains(mark, "THINK")
}
