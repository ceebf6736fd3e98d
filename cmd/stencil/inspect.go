package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/stencil-json/stencil/cmd/stencil/console"
	"github.com/stencil-json/stencil/cmd/stencil/inspection"
	"github.com/stencil-json/stencil/vocab"
)

func newInspectCommand() *cobra.Command {
	var template, asJSON bool
	var opt inspection.Options
	cmd := &cobra.Command{
		Use:               "inspect FILE.gguf",
		Short:             "Show the metadata, tensors, vocabulary and memory use of a model file",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: modelFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			g, err := vocab.OpenGGUF(args[0])
			if err != nil {
				return err
			}
			if template {
				text := g.Str("tokenizer.chat_template")
				if console.IsTerminal(cmd.OutOrStdout()) {
					text = console.Printable(text)
				}
				_, err := fmt.Fprintln(cmd.OutOrStdout(), text)
				return err
			}
			r, err := inspection.Of(args[0], g, opt)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			return r.Print(console.Writer{Writer: cmd.OutOrStdout()})
		},
	}
	cmd.Flags().BoolVar(&opt.Tensors, "tensors", false, "list every tensor")
	cmd.Flags().BoolVar(&template, "template", false, "print only the chat template")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("template", "json")
	registerToolForm(cmd.Flags(), &opt.ToolForm)
	group(cmd.Flags(), "Output")
	cmd.Flags().IntVarP(&opt.Context.Size, "context", "c", 0, "context size in tokens for the memory estimate (default: trained length, if memory allows)")
	cmd.Flags().IntVar(&opt.Context.MaxSeqs, "parallel", 0, "number of sequences for the memory estimate (default 1)")
	group(cmd.Flags(), "Context and memory")
	return cmd
}
