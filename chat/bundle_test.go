package chat

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stencil-json/stencil/internal/shared"
)

// notFound are the templates of the bundle whose call format is not detected, with the
// reported reason.
var notFound = map[string]string{
	"HuggingFaceTB-SmolLM3-3B":        "writes no calls",
	"google-gemma-2-2b-it":            "writes no calls",
	"llama-cpp-rwkv-world":            "writes no calls",
	"microsoft-Phi-3.5-mini-instruct": "writes no calls",
}

// Every template of the bundle can be parsed, and either its call format is detected
// (then calls written in it are rendered as the same text in a conversation) or the
// reason is reported.
func TestBundledTemplates(t *testing.T) {
	templates := shared.Templates(t)
	if len(templates) < 70 {
		t.Errorf("%d templates, fewer than 70", len(templates))
	}
	for name, source := range templates {
		tmpl, err := New(source, Options{BOS: "<BOS>", EOS: "<EOS>", Now: func() time.Time { return time.Unix(0, 0) }})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		form, known := tmpl.CallForm()
		reason, missing := notFound[name]
		switch err := tmpl.CallFormMissing(); {
		case known == missing || known != (err == nil):
			t.Errorf("%s: %t, %v", name, known, err)
			continue
		case missing && !strings.Contains(err.Error(), reason):
			t.Errorf("%s: %v", name, err)
		case missing && tmpl.Caps().ToolCalls:
			continue // the template's own format
		case form.Name == Harmony:
			continue // channels are covered by the server's tests
		}
		for i, calls := range Battery(form) {
			for _, content := range []string{"", "I look."} {
				if err := sameAgain(tmpl, form, calls, content); err != nil {
					t.Errorf("%s %d: %v", name, i, err)
				}
			}
		}
		if _, err := tmpl.Render(Input{Messages: []Message{{Role: "user", Content: "x"}}, AddGenerationPrompt: true}); err != nil {
			t.Errorf("%s without tools: %v", name, err)
		}
	}
}

// sameAgain checks that calls in a conversation are rendered as the model writes them.
func sameAgain(tmpl *Template, form CallForm, calls []ToolCall, content string) error {
	if content != "" {
		form.Close = "" // some write the text after the calls
	}
	want, err := form.Write(calls)
	if err != nil {
		return err
	}
	text, err := tmpl.Render(Input{Tools: askedTools, Messages: []Message{{Role: "user", Content: "q"}, {Role: "assistant", Content: content, ToolCalls: calls}}})
	if form.Arguments.Layout == AnyLayout {
		text, want = squeezed(text), squeezed(want)
	}
	if err != nil || !strings.Contains(text, want) {
		return fmt.Errorf("%v\n  want %q\n  in   %q", err, want, text[max(0, len(text)-len(want)-300):])
	}
	return nil
}

// TestNamedForms checks that the formats with names for arguments in tags are those of the templates that they are named after.
func TestNamedForms(t *testing.T) {
	templates := shared.Templates(t)
	for name, template := range map[string]string{"qwen3-coder": "Qwen3-Coder", "glm-4.5": "GLM-4.6", "minimax-m2": "MiniMax-M2"} {
		tmpl, err := New(templates[template], Options{})
		if err != nil {
			t.Fatal(err)
		}
		detected, known := tmpl.CallForm()
		named, err := callFormOf(name)
		if err != nil || !known {
			t.Fatal(name, err, known)
		}
		for _, calls := range Battery(detected) {
			want, err := detected.Write(calls)
			if got, err2 := named.Write(calls); got != want || err != nil || err2 != nil {
				t.Errorf("%s: %q %v, want %q %v", name, got, err2, want, err)
			}
		}
	}
	for template, want := range map[string]bool{"google-gemma-4-31B-it": true, "MiniMax-M3": true, "ByteDance-Seed-OSS": true, "LFM2.5-8B-A1B": true, "Qwen3-Coder": false, "GLM-4.6": false} {
		tmpl, err := New(templates[template], Options{})
		if err != nil {
			t.Fatal(err)
		}
		form, _ := tmpl.CallForm()
		if own := form.Arguments.Values[ArrayValue].Nested != nil; own != want || form.Arguments.NestedAsJSON() {
			t.Errorf("%s: a notation of its own: %t; JSON instead: %t", template, own, form.Arguments.NestedAsJSON())
		}
	}
}
