package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stencil-json/stencil/chat/jinja"
)

// A CallForm is the format in which a family of models writes tool calls: in free text
// one of the triggers, then the name of a tool, Middle, the arguments, and After.
// Tokens without text are written as their names.
//
// The texts around names and arguments may contain slots, such as [SlotID], which are
// filled in for each call.
type CallForm struct {
	Name      string
	Lead      string // white space before the trigger if an answer begins with a call
	Triggers  []Trigger
	Middle    string // between the name and the arguments
	Arguments ArgumentForm
	After     string // ends a call
	Next      string // text before the name of each further call; "": one call only
	Close     string // ends the last call
	// Answer is the text before an answer and Call the one before the name of a first call, if the prompt leaves it to the model whom
	// it addresses: the user or a tool. Elsewhere both are empty.
	Answer, Call string
	IDs          int // number of letters and digits in the ID of a call; 0: any text
}

// A Trigger is the text before a tool call in free text.
type Trigger struct {
	Mark    string
	AtStart bool   // only at the start of the text
	AtLine  bool   // only at the start of a line
	Then    string // between the mark and the name
}

// The slots of a form's texts.
const (
	SlotName  = "\uE000" // the name of the tool, if it is repeated
	SlotID    = "\uE001" // the ID of the call
	SlotIndex = "\uE002" // the number of the call, from 0
	SlotCount = "\uE003" // the number of the call, from 1
	SlotKey   = "\uE004" // the name of the argument, if it is repeated
)

// An ArgumentForm is how the arguments of a call are written: as a JSON object or, if
// Tagged, one by one.
type ArgumentForm struct {
	Layout JSONLayout // of the object, or of JSON values

	Tagged  bool
	Empty   string // written if there are no arguments
	Key     string // before the name of an argument
	Between string // between two arguments
	Sorted  bool   // by name
	Values  [valueTypes]ValueForm

	put putting // how the object is passed to the template
}

// A JSONLayout is the white space in JSON.
type JSONLayout uint8

// The layouts of JSON.
const (
	AnyLayout JSONLayout = iota // the template's own layout, such as indentation
	Spaced                      // one space after commas and colons, as in Python
	Compact                     // no white space
)

// A ValueType is a type of JSON values.
type ValueType uint8

// The types of values.
const (
	StringValue ValueType = iota
	IntegerValue
	NumberValue
	BooleanValue
	NullValue
	ObjectValue
	ArrayValue
	valueTypes
)

// A ValueForm is how the value of an argument is written.
type ValueForm struct {
	Open   string    // between the name of the argument and the value
	Close  string    // after the value
	Raw    bool      // a string without quotes and escapes
	Python bool      // True, False, None
	Nested *Notation // of an object or array; nil: JSON
	Marked *Marked   // of a raw string: how some are written; nil: none
	put    putting
}

// Marked is how verbatim strings are written that contain one of some characters, as in CDATA sections.
type Marked struct {
	Chars       string
	Open, Close string // instead of those of other strings
}

// putting is how a value is passed to the template so that it is written in this form.
type putting uint8

const (
	putValue    putting = iota // unchanged
	putText                    // its JSON as a string, as the template writes strings verbatim
	putVerbatim                // its JSON as a verbatim value
)

// Harmony is the name of the formats of gpt-oss, in which each channel is a separate
// message; they do not use the other fields of [CallForm] and [ThoughtForm].
const Harmony = "harmony"

// HarmonyFinal begins the message of an answer there.
const HarmonyFinal = "<|channel|>final<|message|>"

// Write returns calls as the model writes them, starting with the trigger.
func (f CallForm) Write(calls []ToolCall) (string, error) {
	var b strings.Builder
	t := f.Triggers[0]
	b.WriteString(t.Mark)
	for i, c := range calls {
		before := t.Then
		switch {
		case i > 0 && f.Next == "":
			return "", fmt.Errorf("chat: the format %q has one call at a time", f.Name)
		case i > 0:
			before = f.Next
		}
		arguments, err := f.Arguments.write(c.Arguments)
		if err != nil {
			return "", fmt.Errorf("chat: arguments of %q: %w", c.Name, err)
		}
		last := f.After
		if i == len(calls)-1 {
			last += f.Close
		}
		b.WriteString(FillSlots(before, i, c))
		b.WriteString(c.Name)
		b.WriteString(FillSlots(f.Middle, i, c))
		b.WriteString(arguments)
		b.WriteString(FillSlots(last, i, c))
	}
	return b.String(), nil
}

// FillSlots fills in the slots of a call: index, from 0, name and ID.
func FillSlots(text string, index int, c ToolCall) string {
	if !strings.ContainsAny(text, SlotName+SlotID+SlotIndex+SlotCount) {
		return text
	}
	return strings.NewReplacer(SlotName, c.Name, SlotID, c.ID, SlotIndex, strconv.Itoa(index), SlotCount, strconv.Itoa(index+1)).Replace(text)
}

// HasSlot reports whether the form has one of the slots.
func (f CallForm) HasSlot(slots ...string) bool {
	for _, text := range []string{f.Middle, f.After, f.Next, f.Close} {
		for _, s := range slots {
			if strings.Contains(text, s) {
				return true
			}
		}
	}
	return slices.ContainsFunc(f.Triggers, func(t Trigger) bool {
		return slices.ContainsFunc(slots, func(s string) bool { return strings.Contains(t.Mark+t.Then, s) })
	})
}

// IsQuote reports whether the text after verbatim strings is only a quotation mark, which may also occur in them: it ends a string
// if what follows does not belong to it.
func IsQuote(closing string) bool { return closing == "'" || closing == `"` }

// NestedAsJSON reports whether objects and arrays within arguments are written as JSON although the template has a way of its own.
func (a *ArgumentForm) NestedAsJSON() bool {
	return a.Tagged && (a.Values[ObjectValue].put != putValue || a.Values[ArrayValue].put != putValue)
}

// write returns arguments, a JSON object, in the form.
func (a *ArgumentForm) write(arguments json.RawMessage) (string, error) {
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	parsed, err := jinja.FromJSONAsWritten(arguments)
	if err != nil {
		return "", err
	}
	if !a.Tagged {
		return layOut(parsed, a.Layout), nil
	}
	dict, ok := parsed.(*jinja.Dict)
	if !ok {
		return "", fmt.Errorf("they are no object")
	}
	keys := dict.Keys()
	if a.Sorted {
		sortKeys(keys)
	}
	if len(keys) == 0 {
		return a.Empty, nil
	}
	var parts []string
	for _, key := range keys {
		value, _ := dict.Get(key)
		v := a.Values[typeOf(value)]
		if text, ok := value.(string); ok && v.Marked != nil && strings.ContainsAny(text, v.Marked.Chars) {
			v.Open, v.Close = v.Marked.Open, v.Marked.Close
		}
		parts = append(parts, a.Key+key+v.Open+a.spell(value)+strings.ReplaceAll(v.Close, SlotKey, key))
	}
	return strings.Join(parts, a.Between), nil
}

// spell returns a value as it is written between the texts around it.
func (a *ArgumentForm) spell(value any) string {
	v := a.Values[typeOf(value)]
	switch x := value.(type) {
	case string:
		if v.Raw {
			return x
		}
	case nil, bool:
		if v.Python {
			return pythonName(x)
		}
	case *jinja.Dict, *jinja.List:
		if v.Nested != nil {
			return v.Nested.write(x)
		}
	}
	return layOut(value, a.Layout)
}

func pythonName(x any) string {
	switch x {
	case true:
		return "True"
	case false:
		return "False"
	}
	return "None"
}

// typeOf returns the type of a value of package jinja.
func typeOf(value any) ValueType {
	switch value.(type) {
	case string:
		return StringValue
	case bool:
		return BooleanValue
	case nil:
		return NullValue
	case float64, jinja.Verbatim:
		return NumberValue
	case *jinja.Dict:
		return ObjectValue
	case *jinja.List:
		return ArrayValue
	}
	return IntegerValue
}

// layOut returns a value as JSON.
func layOut(value any, layout JSONLayout) string {
	if layout == Compact {
		return jinja.JSON(value, ",", ":")
	}
	return jinja.JSON(value, ", ", ": ")
}

// forTemplate returns arguments as they are passed to a template of the form.
func (a *ArgumentForm) forTemplate(arguments any) any {
	dict, ok := arguments.(*jinja.Dict)
	switch {
	case a.put == putText:
		return layOut(arguments, a.Layout)
	case !ok || !a.Tagged:
		return arguments
	}
	out := jinja.NewDict()
	for _, key := range dict.Keys() {
		value, _ := dict.Get(key)
		switch a.Values[typeOf(value)].put {
		case putText:
			value = layOut(value, a.Layout)
		case putVerbatim:
			value = jinja.Verbatim(layOut(value, a.Layout))
		}
		out.Set(key, value)
	}
	return out
}
