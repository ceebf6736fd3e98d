package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/cmd/stencil/console"
	"github.com/stencil-json/stencil/vocab"
)

func newInspectCommand() *cobra.Command {
	var tensors, template bool
	var form string
	var p backend.ContextParams
	cmd := &cobra.Command{
		Use:               "inspect FILE.gguf",
		Short:             "Show the metadata, tensors, vocabulary and memory use of a model file",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: modelFiles,
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := vocab.OpenGGUF(args[0])
			if err != nil {
				return err
			}
			out := console.Writer{Writer: cmd.OutOrStdout()}
			if template {
				text := g.Str("tokenizer.chat_template")
				if console.IsTerminal(cmd.OutOrStdout()) {
					text = console.Printable(text)
				}
				_, err := fmt.Fprintln(cmd.OutOrStdout(), text)
				return err
			}
			inspectMetadata(out, args[0], g)
			inspectTensors(out, g, tensors)
			inspectVocab(out, g, form)
			return inspectMemory(out, args[0], g, p)
		},
	}
	cmd.Flags().BoolVar(&tensors, "tensors", false, "list every tensor")
	cmd.Flags().BoolVar(&template, "template", false, "print only the chat template")
	registerToolForm(cmd.Flags(), &form)
	group(cmd.Flags(), "Output")
	cmd.Flags().IntVarP(&p.Size, "context", "c", 0, "context size in tokens for the memory estimate (default: trained length, if memory allows)")
	cmd.Flags().IntVar(&p.MaxSeqs, "parallel", 0, "number of sequences for the memory estimate (default 1)")
	group(cmd.Flags(), "Context and memory")
	return cmd
}

// longestValue is how many characters of a value are printed.
const longestValue = 96

func inspectMetadata(out io.Writer, path string, g *vocab.GGUF) {
	fmt.Fprintf(out, "%s: GGUF version %d, %s\n\nmetadata\n", path, g.Version, llama.Size(g.Size))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, p := range g.Pairs {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", console.Flat(p.Key), p.Value.Type, oneLine(p.Value.String()))
	}
	w.Flush()
}

// oneLine quotes and shortens a value for a table.
func oneLine(s string) string {
	q := strconv.Quote(s)
	if q = q[1 : len(q)-1]; len(q) <= longestValue {
		return q
	}
	short := []rune(s)
	if len(short) > longestValue {
		short = short[:longestValue]
	}
	q = strconv.Quote(string(short))
	return q[1:len(q)-1] + "…"
}

func inspectTensors(out io.Writer, g *vocab.GGUF, all bool) {
	type sum struct {
		n               int
		elements, bytes int64
	}
	byType := map[string]*sum{}
	var total sum
	for _, t := range g.Tensors {
		s := byType[t.Type.String()]
		if s == nil {
			s = new(sum)
			byType[t.Type.String()] = s
		}
		for _, x := range []*sum{s, &total} {
			x.n++
			x.elements += t.Elements()
			x.bytes += max(0, t.Size)
		}
	}
	fmt.Fprintf(out, "\ntensors\n  %d, %s parameters, %s\n", total.n, thousands(total.elements), llama.Size(total.bytes))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, name := range slices.Sorted(maps.Keys(byType)) {
		s := byType[name]
		fmt.Fprintf(w, "  %s\t%d\t%s\t%s\t\n", name, s.n, thousands(s.elements), llama.Size(s.bytes))
	}
	w.Flush()
	if err := g.CheckTensors(); err != nil {
		fmt.Fprintf(out, "  incomplete: %v\n", err)
	}
	if !all {
		return
	}
	w = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, t := range g.Tensors {
		shape := make([]string, len(t.Shape))
		for i, d := range t.Shape {
			shape[i] = strconv.FormatInt(d, 10)
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", console.Flat(t.Name), t.Type, strings.Join(shape, " × "))
	}
	w.Flush()
}

func inspectVocab(out io.Writer, g *vocab.GGUF, form string) {
	fmt.Fprintln(out, "\nvocabulary")
	v, err := vocab.FromGGUF(g)
	if err != nil {
		fmt.Fprintf(out, "  none: %v\n", err)
		return
	}
	kinds := map[vocab.Kind]int{}
	longest := int32(0)
	for id := range int32(v.Len()) {
		kinds[v.Kind(id)]++
		if len(v.Bytes(id)) > len(v.Bytes(longest)) {
			longest = id
		}
	}
	var counts []string
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		counts = append(counts, fmt.Sprintf("%s %s", thousands(int64(kinds[k])), k))
	}
	fmt.Fprintf(out, "  %s tokens (%s), %s", thousands(int64(v.Len())), strings.Join(counts, ", "), v.Model())
	if pre, _ := v.Pre(); pre != "" {
		fmt.Fprintf(out, ", pre-tokenizer %s", pre)
	}
	fmt.Fprintf(out, "\n  longest token: %d bytes (%d)\n", len(v.Bytes(longest)), longest)
	if bos, ok := v.BOS(); ok {
		fmt.Fprintf(out, "  beginning of text: %s (%d)", v.Text(bos), bos)
		if !v.AddBOS() {
			fmt.Fprint(out, ", not added automatically")
		}
		fmt.Fprintln(out)
	}
	inspectForms(out, v, form)
	var ends []string
	for _, id := range v.EOG() {
		ends = append(ends, fmt.Sprintf("%s (%d)", v.Text(id), id))
	}
	fmt.Fprintf(out, "  end of generation: %s\n", strings.Join(ends, ", "))
	if t := v.ChatTemplate(); t != "" {
		fmt.Fprintf(out, "  chat template: %d characters (--template prints it)\n", len([]rune(t)))
	} else {
		fmt.Fprintln(out, "  chat template: none")
	}
}

func inspectMemory(out io.Writer, path string, g *vocab.GGUF, p backend.ContextParams) error {
	if len(g.Tensors) == 0 {
		_, err := fmt.Fprintln(out, "\nmemory\n  no weights: the file holds only a vocabulary")
		return err
	}
	e, err := llama.EstimateMemory(path, p)
	if err != nil {
		return err
	}
	size := "the default context"
	if p.Size > 0 {
		size = fmt.Sprintf("a context of %s tokens", thousands(int64(p.Size)))
	}
	_, err = fmt.Fprintf(out, "\nmemory with %s\n  about %s: %s\n", size, llama.Size(e.Total()), e)
	return err
}

// thousands prints a number with commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// inspectForms prints the formats in which the model writes tool calls and
// reasoning.
func inspectForms(out io.Writer, v *vocab.Vocab, form string) {
	p := chat.NewPromptsAs(v, "", form)
	calls, callsKnown := p.CallForm()
	thoughts, thoughtsKnown := p.ThoughtForm()
	for _, f := range []struct {
		what, name string
		known      bool
	}{{"tool calls", calls.Name, callsKnown}, {"reasoning", thoughts.Name, thoughtsKnown}} {
		fmt.Fprintf(out, "  %s: format %q", f.what, f.name)
		if !f.known {
			fmt.Fprint(out, " (assumed: the chat template shows none)")
		}
		fmt.Fprintln(out)
		if f.what == "tool calls" {
			inspectCalls(out, p, calls)
		}
	}
}

// inspectCalls prints an example of a call, or two, and why the format is not known.
func inspectCalls(out io.Writer, p *chat.Prompts, form chat.CallForm) {
	if err := p.CallFormMissing(); err != nil {
		fmt.Fprintf(out, "    not known: %v; --tool-form sets it\n", err)
	}
	calls := []chat.ToolCall{
		{ID: "abcdefghi", Name: "get_weather", Arguments: json.RawMessage(`{"city": "Paris", "days": 3, "hourly": true}`)},
		{ID: "jklmnopqr", Name: "get_time", Arguments: json.RawMessage(`{"city": "Rome"}`)},
	}
	if form.Next == "" {
		calls = calls[:1]
	}
	if len(form.Triggers) == 0 {
		return // channels
	}
	text, err := form.Write(calls)
	if err != nil {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(out, "    %s\n", line)
	}
}
