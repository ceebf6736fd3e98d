package agent

import (
	"fmt"
	"strings"
	"text/template"
)

// Prompts are the texts that ask for envelopes: templates of package
// text/template, each with a [Situation] as its data. They are immutable and
// safe for concurrent use.
type Prompts struct {
	all *template.Template
}

// The names of the templates.
const (
	promptSystem    = "system"
	promptQuestion  = "question"
	promptSynthesis = "synthesis"
)

// A Situation is the data of a template.
type Situation struct {
	Query       string   // the query of this frame
	Task        string   // the query of the root
	Path        []string // queries from the root to this frame's parent; none for the root
	Depth       int      // 1 for the root
	CanContinue bool     // sub-tasks are possible
	CanAskUser  bool
	MaxSubTasks int
	Tools       []Tool

	// For a synthesis.
	Own     string   // the conclusion of the frame before its sub-tasks
	Results []Result // results of the sub-tasks
	Bound   string   // the bound that limited the frame, if any
}

// A Result is the result of a sub-task.
type Result struct {
	Level      int // 0 for the frame's own sub-tasks, 1 for those of one of them without a synthesis
	Query      string
	Conclusion string
	Confidence float64
	Missing    string // why there is no conclusion
}

// DefaultPromptText is the source of DefaultPrompts, as a starting point for others.
const DefaultPromptText = `{{define "system" -}}
You answer with one JSON object and nothing else. Its members, in this order:
- "reasoning": a short chain of thought; leave it out if the answer is plain
- "conclusion": the answer itself, complete and to the point
- "confidence": from 0 to 1, how sure you are that the conclusion is right
- "files": paths of the files that the conclusion rests on, if any
{{- if .CanContinue}}
- "sub_tasks": up to {{.MaxSubTasks}} parts of the work, each {"query": what is to be found out, understandable on its own, "priority": 1 for the first}; only if the task is too large for one answer
{{- end}}
- "needs_more_info": true if something is missing{{if .CanAskUser}} that the user has to say; the conclusion then asks for it{{end}}
- "next_action": "finalize" if the conclusion is the answer
{{- if .CanContinue}}, "continue" if the sub-tasks are to be done first{{end}}
{{- if .CanAskUser}}, "ask_user" if only the user knows; the conclusion is then the question{{end}}
- "error": what went wrong, only if something did
{{- if .CanContinue}}
A sub-task is worked on by somebody who sees nothing but its query and the whole task: put all that is needed into the query. No sub-task
repeats the task or another one, none waits for the result of another, and together they cover the task.
{{- end}}
{{- if .Tools}}
Call tools to look things up before you answer.
{{- end}}
{{- end}}

{{define "question" -}}
{{- if .Path -}}
The whole task: {{.Task}}

Your part of it: {{.Query}}
{{- else -}}
{{.Query}}
{{- end}}
{{- end}}

{{define "synthesis" -}}
The task: {{.Query}}
{{- if .Own}}

A first conclusion: {{.Own}}
{{- end}}

What its parts came to:
{{range .Results}}
{{indent .Level}}- {{.Query}}
{{indent .Level}}  {{if .Missing}}(not done: {{.Missing}}){{else}}{{.Conclusion}} (confidence {{printf "%.2f" .Confidence}}){{end}}
{{- end}}
{{- if .Bound}}

Not everything could be done, for lack of {{.Bound}}. Say what is missing.
{{- end}}

Bring this together in one answer to the task.
{{- end}}
`

var promptFunctions = template.FuncMap{"indent": func(n int) string { return strings.Repeat("  ", n) }}

// DefaultPrompts returns the default prompts.
func DefaultPrompts() *Prompts {
	return &Prompts{template.Must(template.New("").Funcs(promptFunctions).Option("missingkey=error").Parse(DefaultPromptText))}
}

// ParsePrompts parses prompts: any of the templates "system", "question" and
// "synthesis", each in a {{define}}. The defaults are used for missing ones. Every
// template is executed once, so that ParsePrompts reports its errors.
func ParsePrompts(text string) (*Prompts, error) {
	p := DefaultPrompts()
	if _, err := p.all.Parse(text); err != nil {
		return nil, fmt.Errorf("agent: prompts: %w", err)
	}
	trial := Situation{
		Query: "q", Task: "t", Path: []string{"t"}, Depth: 2, CanContinue: true, CanAskUser: true, MaxSubTasks: 1, Tools: []Tool{{Name: "n"}},
		Own: "o", Results: []Result{{Query: "q", Conclusion: "c"}}, Bound: BoundTime,
	}
	for _, name := range []string{promptSystem, promptQuestion, promptSynthesis} {
		if _, err := p.text(name, &trial); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Prompts) text(name string, s *Situation) (string, error) {
	var b strings.Builder
	if err := p.all.ExecuteTemplate(&b, name, s); err != nil {
		return "", fmt.Errorf("agent: prompts: %w", err)
	}
	return strings.TrimSpace(b.String()), nil
}
