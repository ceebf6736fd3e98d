package chat

import (
	"slices"
	"strings"
	"testing"
)

func TestAsked(t *testing.T) {
	user := func(text string) Message { return Message{Role: "user", Content: text} }
	said := func(text string) Message { return Message{Role: "assistant", Content: text} }
	asked := []Message{{Role: "system", Content: "Be brief."}, user("How is it in Oslo?"), {Role: "assistant", ToolCalls: []ToolCall{{Name: "weather"}}}, {Role: "tool", Content: "timeout"}, said("That failed.")}
	for last, want := range map[string]string{
		"Try again": "How is it in Oslo?", "Yes, please do it!": "How is it in Oslo?", "Noch einmal, bitte": "How is it in Oslo?", "👍": "How is it in Oslo?",
		"Thanks": "Thanks", "And in Bergen?": "And in Bergen?", "Try again with Bergen": "Try again with Bergen", "Try it in 5 minutes": "Try it in 5 minutes",
	} {
		if got := Asked(append(slices.Clip(asked), user(last))); got != want {
			t.Errorf("%q: %q", last, got)
		}
	}
	for want, list := range map[string][]Message{
		"How is it in Oslo?": append(slices.Clip(asked), user("ok"), said("Shall I?"), user("yes")),
		"Shall I?":           {said("Shall I?"), user("yes")},
		"yes":                {user("yes")},
	} {
		if got := Asked(list); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestMention(t *testing.T) {
	list := []Message{{Role: "system", Content: "Give the first name."}, {Role: "developer", Parts: []Part{{Type: "text", Text: "And die Straße, please"}}}, {Role: "user", Content: "last"}, {Role: "assistant", Content: `{"zip": 1}`}, {Role: "tool", Content: "result"}}
	for names, want := range map[string]bool{
		"firstName": true, "first_name STRASSE": false, "straße firstName": true, "name please": true, "nameand": false, "last": true, "zip firstName": true, "result": false, "--": false, "": false,
	} {
		if got := Mention(list, strings.Fields(names)); got != want {
			t.Errorf("%q: %v", names, got)
		}
	}
}
