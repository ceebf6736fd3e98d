package inspection

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/cmd/stencil/console"
)

// longestValue is the maximum number of characters of a value that are printed.
const longestValue = 96

// Print writes the report as text.
func (r *Report) Print(out io.Writer) error {
	fmt.Fprintf(out, "%s: GGUF version %d, %s\n\nmetadata\n", r.File, r.Version, llama.Size(r.Bytes))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, e := range r.Metadata {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", console.Flat(e.Key), e.Type, oneLine(e.words))
	}
	w.Flush()
	r.Tensors.print(out)
	fmt.Fprintln(out, "\nvocabulary")
	if r.Vocabulary == nil {
		fmt.Fprintf(out, "  none: %s\n", r.NoVocabulary)
	} else {
		r.Vocabulary.print(out)
	}
	if r.Memory == nil {
		_, err := fmt.Fprintln(out, "\nmemory\n  no weights: the file holds only a vocabulary")
		return err
	}
	if r.Unsupported != "" {
		_, err := fmt.Fprintf(out, "\nthe model can't be loaded\n  %s\n", console.Flat(r.Unsupported))
		return err
	}
	size := "the default context"
	if r.Memory.Context > 0 {
		size = fmt.Sprintf("a context of %s tokens", console.Thousands(int64(r.Memory.Context)))
	}
	_, err := fmt.Fprintf(out, "\nmemory with %s\n  about %s: %s\n", size, llama.Size(r.Memory.Total), r.Memory.estimate)
	return err
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

func (t *Tensors) print(out io.Writer) {
	fmt.Fprintf(out, "\ntensors\n  %d, %s parameters, %s\n", t.Count, console.Thousands(t.Parameters), llama.Size(t.Bytes))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, s := range t.Types {
		fmt.Fprintf(w, "  %s\t%d\t%s\t%s\t\n", s.Type, s.Count, console.Thousands(s.Parameters), llama.Size(s.Bytes))
	}
	w.Flush()
	if t.Incomplete != "" {
		fmt.Fprintf(out, "  incomplete: %s\n", t.Incomplete)
	}
	w = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, x := range t.List {
		shape := make([]string, len(x.Shape))
		for i, d := range x.Shape {
			shape[i] = strconv.FormatInt(d, 10)
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", console.Flat(x.Name), x.Type, strings.Join(shape, " × "))
	}
	w.Flush()
}

func (v *Vocabulary) print(out io.Writer) {
	var counts, ends []string
	for _, k := range v.Kinds {
		counts = append(counts, fmt.Sprintf("%s %s", console.Thousands(int64(k.Count)), k.Kind))
	}
	fmt.Fprintf(out, "  %s tokens (%s), %s", console.Thousands(int64(v.Tokens)), strings.Join(counts, ", "), v.Model)
	if v.PreTokenizer != "" {
		fmt.Fprintf(out, ", pre-tokenizer %s", v.PreTokenizer)
	}
	fmt.Fprintf(out, "\n  longest token: %d bytes (%d)\n", v.Longest.Bytes, v.Longest.ID)
	if v.Beginning != nil {
		fmt.Fprintf(out, "  beginning of text: %s (%d)", v.Beginning.Text, v.Beginning.ID)
		if !v.AddsBeginning {
			fmt.Fprint(out, ", not added automatically")
		}
		fmt.Fprintln(out)
	}
	printForm(out, "tool calls", v.ToolCalls.Format, v.ToolCalls.Known)
	if v.ToolCalls.Unknown != "" {
		fmt.Fprintf(out, "    not known: %s; --tool-form sets it\n", v.ToolCalls.Unknown)
	}
	if v.ToolCalls.Example != "" {
		for line := range strings.SplitSeq(v.ToolCalls.Example, "\n") {
			fmt.Fprintf(out, "    %s\n", line)
		}
	}
	if v.ToolCalls.Nested != "" {
		fmt.Fprintf(out, "    %s\n", v.ToolCalls.Nested)
	}
	printForm(out, "reasoning", v.Reasoning.Format, v.Reasoning.Known)
	for _, t := range v.End {
		ends = append(ends, fmt.Sprintf("%s (%d)", t.Text, t.ID))
	}
	fmt.Fprintf(out, "  end of generation: %s\n", strings.Join(ends, ", "))
	if v.Template > 0 {
		fmt.Fprintf(out, "  chat template: %d characters (--template prints it)\n", v.Template)
	} else {
		fmt.Fprintln(out, "  chat template: none")
	}
}

func printForm(out io.Writer, what, name string, known bool) {
	fmt.Fprintf(out, "  %s: format %q", what, name)
	if !known {
		fmt.Fprint(out, " (assumed: the chat template shows none)")
	}
	fmt.Fprintln(out)
}
