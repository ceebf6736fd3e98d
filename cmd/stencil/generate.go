package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stencil-json/stencil/bench/overhead"
	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/cmd/stencil/console"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/engine"
)

type generateFlags struct {
	model      modelFlags
	log        logFlags
	prompt     string
	promptFile string
	chat       bool
	system     string
	format     formatFlags
	maxTokens  int
	seed       uint64
	noForced   bool
	truncate   bool
	trace      string
	sampling   sampling.Options
	stop       []string
}

// Help texts of flags that several commands share.
const (
	temperatureHelp = "sampling temperature; 0: greedy"
	seedHelp        = "random seed (default: a new one each time)"
)

func newGenerateCommand() *cobra.Command {
	f := new(generateFlags)
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Generate one text and stream it to standard output",
		Long: `Generate one text. The text is streamed to standard output; token counts and
timings go to standard error.`,
		Example: `  stencil generate --model M.gguf --prompt "The capital of France is" --max-tokens 20
  stencil generate --model M.gguf --prompt "A customer: " --schema customer.json
  stencil generate --model M.gguf --chat --prompt "Three cities." --builtin csv --columns city,country
  stencil generate --model M.gguf --chat --prompt "Is it raining?" --choice yes --choice no
  echo "Dear" | stencil generate --model M.gguf --prompt -`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("seed") {
				f.seed = rand.Uint64() >> 11
			}
			return f.run(cmd)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.prompt, "prompt", "", "prompt; -: read the prompt from standard input")
	flags.StringVar(&f.promptFile, "prompt-file", "", "file with the prompt")
	flags.BoolVar(&f.chat, "chat", false, "send the prompt as a user message, through the model's chat template")
	flags.StringVar(&f.system, "system", "", "system message; implies --chat")
	group(flags, "Prompt")
	flags.IntVarP(&f.maxTokens, "max-tokens", "n", 256, "maximum number of tokens to generate; 0: what the context has left")
	flags.Float32Var(&f.sampling.Temperature, "temperature", 0.8, temperatureHelp)
	flags.IntVar(&f.sampling.TopK, "top-k", 40, "sample from the k most likely tokens; 0: off")
	flags.Float32Var(&f.sampling.TopP, "top-p", 0.95, "sample from the most likely tokens whose probabilities sum to p; 1: off")
	flags.Float32Var(&f.sampling.MinP, "min-p", 0.05, "drop tokens less likely than p times the most likely one; 0: off")
	flags.Float32Var(&f.sampling.TypicalP, "typical-p", 1, "locally typical sampling with this probability mass; 1: off")
	flags.Float32Var(&f.sampling.RepeatPenalty, "repeat-penalty", 1, "penalty factor for tokens that occurred before; 1: off")
	flags.Float32Var(&f.sampling.PresencePenalty, "presence-penalty", 0, "penalty subtracted from the logit of each token that occurred before")
	flags.Float32Var(&f.sampling.FrequencyPenalty, "frequency-penalty", 0, "penalty subtracted from a token's logit once per earlier occurrence")
	flags.StringArrayVar(&f.stop, "stop", nil, "stop string for unconstrained text; may be repeated")
	flags.Uint64Var(&f.seed, "seed", 0, seedHelp)
	group(flags, "Sampling")
	f.format.register(cmd)
	flags.BoolVar(&f.noForced, "no-forced", false, "sample forced tokens like all others")
	flags.BoolVar(&f.truncate, "truncate", false, "let --max-tokens cut a document off instead of closing the document in time")
	group(flags, "Constraint")
	f.model.register(flags)
	flags.StringVar(&f.trace, "trace", "", "write a timeline to this file, for Perfetto or about:tracing")
	group(flags, "Output")
	f.log.register(flags, "error")
	cmd.MarkFlagsMutuallyExclusive("prompt", "prompt-file")
	return cmd
}

// suggested sets the sampler flags that were not given to the defaults in the model file. Values that are not valid for a
// flag are ignored.
func (f *generateFlags) suggested(flags *pflag.FlagSet, file map[string]any) {
	for name, value := range file {
		flag := flags.Lookup(strings.ReplaceAll(name, "_", "-"))
		if flag == nil || flag.Changed {
			continue
		}
		before := flag.Value.String()
		if flag.Value.Set(fmt.Sprint(value)) != nil || f.sampling.Validate(0) != nil {
			flag.Value.Set(before)
		}
	}
}

func (f *generateFlags) run(cmd *cobra.Command) error {
	ctx := cmd.Context()
	text, err := f.readPrompt(cmd.InOrStdin())
	if err != nil {
		return err
	}
	format, err := f.format.read(cmd)
	if err != nil {
		return err
	}
	log, err := f.log.logger(os.Stderr)
	if err != nil {
		return err
	}
	params, err := f.model.params()
	if err != nil {
		return err
	}
	model, err := f.model.load(ctx, os.Stderr)
	if err != nil {
		return err
	}
	defer model.Close()
	f.suggested(cmd.Flags(), model.Info().Sampling)
	config := engine.Config{Parallel: 1, CacheSlots: -1, Context: params, Log: log}
	var recorder overhead.Recorder
	if f.trace != "" {
		config.Tracer = &recorder
	}
	e, err := engine.New(model, config)
	if err != nil {
		return err
	}
	defer e.Close()

	req := engine.Request{
		MaxTokens: f.maxTokens, Sampling: f.sampling, Stop: f.stop, NoForced: f.noForced, Truncate: f.truncate,
	}
	req.Sampling.Seed = f.seed
	instruction := ""
	if format != nil {
		if req.Constraint, instruction, err = format.compile(e.Vocab()); err != nil {
			return err
		}
	}
	if req.Prompt, err = f.tokens(cmd.Context(), chat.NewPrompts(e.Vocab()), text, instruction); err != nil {
		return err
	}
	stream, err := e.Submit(ctx, req)
	if err != nil {
		return err
	}
	result, err := show(ctx, stream, cmd.OutOrStdout())
	if err != nil {
		return err
	}
	if f.trace != "" {
		spans := [][]engine.Span{recorder.Take()}
		err = writeTo(f.trace, func(w io.Writer) error { return overhead.WriteTrace(w, []string{"stencil generate"}, spans) })
	}
	_, printed := fmt.Fprint(cmd.ErrOrStderr(), figures(result))
	return errors.Join(err, printed)
}

// tokens returns the tokens of the prompt: the text verbatim, or a conversation whose system message includes the
// instruction about the schema.
func (f *generateFlags) tokens(ctx context.Context, p *chat.Prompts, text, instruction string) ([]int32, error) {
	if !f.chat && f.system == "" {
		return p.Text(ctx, text)
	}
	var in chat.Input
	if system := strings.TrimSpace(f.system + "\n\n" + instruction); system != "" {
		in.Messages = append(in.Messages, chat.Message{Role: "system", Content: system})
	}
	in.Messages = append(in.Messages, chat.Message{Role: "user", Content: text})
	return p.Chat(ctx, in)
}

func (f *generateFlags) readPrompt(stdin io.Reader) (string, error) {
	switch {
	case f.promptFile != "":
		b, err := os.ReadFile(f.promptFile)
		return string(b), err
	case f.prompt == "-":
		b, err := io.ReadAll(stdin)
		return string(b), err
	case f.prompt == "":
		return "", errors.New("--prompt or --prompt-file is needed")
	}
	return f.prompt, nil
}

// show prints a text while it is generated and returns the result.
func show(ctx context.Context, stream *engine.Stream, out io.Writer) (*engine.Result, error) {
	w := bufio.NewWriter(out)
	text := func(text string) string { return text }
	if console.IsTerminal(out) {
		text = console.Printable
	}
	for {
		ev, err := stream.Next(ctx)
		if err != nil {
			w.WriteString("\n")
			return nil, errors.Join(err, w.Flush())
		}
		w.WriteString(text(ev.Text))
		if ev.Done != nil {
			w.WriteString("\n")
			return ev.Done, w.Flush()
		}
		if err := w.Flush(); err != nil {
			return nil, err
		}
	}
}

// figures returns two lines with token counts and timings.
func figures(r *engine.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "prompt:   %d tokens in %.2f s\n", r.PromptTokens, r.Timings.Prompt.Seconds())
	rate := 0.0
	if s := r.Timings.Generate.Seconds(); s > 0 {
		rate = float64(r.CompletionTokens) / s
	}
	fmt.Fprintf(&b, "generate: %d tokens in %.2f s, %.1f tokens/s (%s, seed %d)", r.CompletionTokens, r.Timings.Generate.Seconds(), rate, r.Finish, r.Seed)
	if c := r.Constraint; c != nil {
		fmt.Fprintf(&b, "; %d tokens forced, masks took %.1f ms", c.ForcedTokens, float64(c.MaskTotal.Microseconds())/1000)
		if c.BudgetClosed {
			b.WriteString("; closed by the budget")
		}
	}
	b.WriteByte('\n')
	return b.String()
}
