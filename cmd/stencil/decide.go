package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"
)

// decideFlags are the flags of stencil decide.
type decideFlags struct {
	serve    serveFlags // used to start a server if --server is not given
	url, key string
	model    string // name of the model at the server

	text, file string
	choices    []string
	levels     []string
	orders     int
	json       bool
}

func newDecideCommand() *cobra.Command {
	f := new(decideFlags)
	cmd := &cobra.Command{
		Use:   "decide QUESTION",
		Short: "Answer a question about a text with probabilities",
		Long: `Answer a question about a text with probabilities: of the values of --choice, of the
levels of --level (lowest first) with a score, or, with neither, of yes. Nothing is
generated.

The text is that of --text or --text-file, or else standard input. The model is that
of a running server (--server), or a file (--model; by default the small bundled
model).`,
		Example: `  stencil decide --model M.gguf --text "I was charged twice." --choice billing --choice shipping "Which team should handle this?"
  stencil decide --server http://127.0.0.1:8080 --text-file mail.txt --level "can wait" --level today --level now "How urgent is this?"`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.text, "text", "", "text that the question is about")
	flags.StringVar(&f.file, "text-file", "", "file with the text; -: standard input")
	flags.StringArrayVar(&f.choices, "choice", nil, "one of the values to choose from, or value=description; repeated")
	flags.StringArrayVar(&f.levels, "level", nil, "one of the levels of a score, the lowest first; repeated")
	flags.IntVar(&f.orders, "orders", 1, "orders of the alternatives to average over: 1, or 2 against a preference for the first")
	group(flags, "Query")
	f.serve.model.register(flags)
	registerClient(flags, &f.url, &f.key, &f.model)
	flags.BoolVar(&f.json, "json", false, "print the answer as JSON")
	group(flags, "Output")
	f.serve.log.register(flags, "error")
	cmd.MarkFlagsMutuallyExclusive("server", "model")
	cmd.MarkFlagsMutuallyExclusive("text", "text-file")
	cmd.MarkFlagsMutuallyExclusive("choice", "level")
	return cmd
}

// body returns the request body with one question.
func (f *decideFlags) body(ask, text string) map[string]any {
	question := map[string]any{"type": "predicate", "instructions": ask}
	switch {
	case f.choices != nil:
		var list []map[string]any
		for _, c := range f.choices {
			value, description, described := strings.Cut(c, "=")
			one := map[string]any{"value": value}
			if described {
				one["description"] = description
			}
			list = append(list, one)
		}
		question["type"], question["choices"] = "choice", list
	case f.levels != nil:
		var list []map[string]any
		for _, l := range f.levels {
			list = append(list, map[string]any{"label": l})
		}
		question["type"], question["levels"] = "score", list
	}
	body := map[string]any{"input": text, "orders": f.orders, "questions": []any{question}}
	if f.model != "" {
		body["model"] = f.model
	}
	return body
}

func (f *decideFlags) run(cmd *cobra.Command, ask string) (err error) {
	text := f.text
	if !cmd.Flags().Changed("text") {
		name := f.file
		if name == "" {
			name = "-"
		}
		raw, err := readInput(cmd, name)
		if err != nil {
			return err
		}
		text = string(raw)
	}
	if f.url == "" {
		url, _, stop, err := f.serve.serveHere(cmd.Context())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
		f.url = url
	}
	raw, err := f.post(cmd.Context(), f.body(ask, text))
	if err != nil {
		return err
	}
	if f.json {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), string(bytes.TrimSpace(raw)))
		return err
	}
	return f.show(cmd.OutOrStdout(), raw)
}

func (f *decideFlags) post(ctx context.Context, body any) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(f.url, "/")+"/decide", bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if f.key != "" {
		req.Header.Set("Authorization", "Bearer "+f.key)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	defer context.AfterFunc(ctx, func() { _ = resp.Body.Close() })() // that of status 101 doesn't end with it
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxFailure))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = serverError(raw, resp.Status)
	}
	return raw, err
}

// show prints the answer.
func (f *decideFlags) show(w io.Writer, raw []byte) error {
	var reply struct {
		Answers []struct {
			Type          string
			Probability   float64
			Choice        any
			Score         float64
			Confidence    float64
			Probabilities []struct {
				Value       any
				Label       string
				Probability float64
			}
		}
	}
	if err := json.Unmarshal(raw, &reply); err != nil || len(reply.Answers) != 1 {
		return fmt.Errorf("the server's answer: %.200q", raw)
	}
	var b strings.Builder
	switch a := reply.Answers[0]; a.Type {
	case "predicate":
		fmt.Fprintf(&b, "%.4f\n", a.Probability)
	default:
		if a.Type == "choice" {
			fmt.Fprintf(&b, "%v (confidence %.4f)\n", a.Choice, a.Confidence)
		} else {
			fmt.Fprintf(&b, "%.4f of 0 to %d (confidence %.4f)\n", a.Score, len(a.Probabilities)-1, a.Confidence)
		}
		for _, p := range a.Probabilities {
			name := p.Label
			if a.Type == "choice" {
				name = fmt.Sprint(p.Value)
			}
			fmt.Fprintf(&b, "  %.4f  %s\n", p.Probability, name)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
