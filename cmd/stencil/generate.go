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

	"stencil/bench/overhead"
	"stencil/chat"
	"stencil/decoder/sampling"
	"stencil/engine"
	"stencil/schema"
)

type generateFlags struct {
	model      modelFlags
	log        logFlags
	prompt     string
	promptFile string
	chat       bool
	system     string
	schema     string
	json       bool
	maxTokens  int
	seed       uint64
	noForced   bool
	truncate   bool
	trace      string
	sampling   sampling.Options
	stop       []string
}

func newGenerateCommand() *cobra.Command {
	f := new(generateFlags)
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Generate one text and print it as it comes",
		Long: `Generate one text and print it as it comes. The text goes to standard output,
figures to standard error. A prompt of - is read from standard input.`,
		Example: `  stencil generate --model M.gguf --prompt "The capital of France is" --max-tokens 20
  stencil generate --model M.gguf --prompt "A customer: " --schema customer.json
  echo "Dear" | stencil generate --model M.gguf --prompt -`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("seed") {
				f.seed = rand.Uint64() >> 11
			}
			return f.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	f.model.register(flags)
	f.log.register(flags, "error")
	completeModelFlags(cmd)
	flags.StringVar(&f.prompt, "prompt", "", "text to go on with; - reads it from standard input")
	flags.StringVar(&f.promptFile, "prompt-file", "", "file with the text to go on with")
	flags.BoolVar(&f.chat, "chat", false, "take the prompt for what a user says, and write it with the model's chat template")
	flags.StringVar(&f.system, "system", "", "system text of the conversation; implies --chat")
	flags.StringVar(&f.schema, "schema", "", "file with a JSON Schema that the text must fit")
	flags.BoolVar(&f.json, "json", false, "write any one JSON value")
	flags.IntVarP(&f.maxTokens, "max-tokens", "n", 256, "tokens to generate at most; 0: what the context has left")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of the sampler (default: another one each time)")
	flags.Float32Var(&f.sampling.Temperature, "temperature", 0.8, "0: always the likeliest token")
	flags.IntVar(&f.sampling.TopK, "top-k", 40, "sample from the k likeliest tokens; 0: all")
	flags.Float32Var(&f.sampling.TopP, "top-p", 0.95, "sample from the likeliest tokens that hold this share; 1: all")
	flags.Float32Var(&f.sampling.MinP, "min-p", 0.05, "drop tokens less likely than this times the likeliest; 0: none")
	flags.Float32Var(&f.sampling.TypicalP, "typical-p", 1, "sample from the most typical tokens that hold this share; 1: all")
	flags.Float32Var(&f.sampling.RepeatPenalty, "repeat-penalty", 1, "make repeated tokens less likely; 1: no")
	flags.Float32Var(&f.sampling.PresencePenalty, "presence-penalty", 0, "taken from the logit of every token used before")
	flags.Float32Var(&f.sampling.FrequencyPenalty, "frequency-penalty", 0, "taken from it for each time it was used")
	flags.StringArrayVar(&f.stop, "stop", nil, "end free text before this; may be repeated")
	flags.BoolVar(&f.noForced, "no-forced", false, "sample forced text token by token")
	flags.BoolVar(&f.truncate, "truncate", false, "let --max-tokens cut a document off instead of closing it in time")
	flags.StringVar(&f.trace, "trace", "", "write where each microsecond went to this file, for Perfetto or about:tracing")
	cmd.MarkFlagsMutuallyExclusive("prompt", "prompt-file")
	cmd.MarkFlagsMutuallyExclusive("schema", "json")
	return cmd
}

func (f *generateFlags) run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	text, err := f.readPrompt(stdin)
	if err != nil {
		return err
	}
	src, err := f.readSchema()
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
	if src != nil {
		schemas := engine.NewSchemas(e.Vocab(), 1)
		if err := schemas.Warm(); err != nil {
			return err
		}
		s, err := schemas.Compile(src, schema.Options{})
		if err != nil {
			return err
		}
		req.Constraint, instruction = s.Constraint, s.Instruction()
	}
	if req.Prompt, err = f.tokens(engine.NewPrompts(e.Vocab()), text, instruction); err != nil {
		return err
	}
	stream, err := e.Submit(ctx, req)
	if err != nil {
		return err
	}
	result, err := show(ctx, stream, stdout)
	if err != nil {
		return err
	}
	if f.trace != "" {
		spans := [][]engine.Span{recorder.Take()}
		err = writeTo(f.trace, func(w io.Writer) error { return overhead.WriteTrace(w, []string{"stencil generate"}, spans) })
	}
	_, printed := fmt.Fprint(stderr, figures(result))
	return errors.Join(err, printed)
}

// tokens returns the prompt: the text as it is, or a conversation that tells
// the model of the schema as well.
func (f *generateFlags) tokens(p *engine.Prompts, text, instruction string) ([]int32, error) {
	if !f.chat && f.system == "" {
		return p.Text(text), nil
	}
	var in chat.Input
	if system := strings.TrimSpace(f.system + "\n\n" + instruction); system != "" {
		in.Messages = append(in.Messages, chat.Message{Role: "system", Content: system})
	}
	in.Messages = append(in.Messages, chat.Message{Role: "user", Content: text})
	return p.Chat(in)
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

// readSchema returns nil when the text is free.
func (f *generateFlags) readSchema() ([]byte, error) {
	switch {
	case f.json:
		return []byte("{}"), nil
	case f.schema != "":
		return os.ReadFile(f.schema)
	}
	return nil, nil
}

// show prints a text as it comes and returns what is known at its end.
func show(ctx context.Context, stream *engine.Stream, out io.Writer) (*engine.Result, error) {
	w := bufio.NewWriter(out)
	for {
		ev, err := stream.Next(ctx)
		if err != nil {
			w.WriteString("\n")
			return nil, errors.Join(err, w.Flush())
		}
		w.WriteString(ev.Text)
		if ev.Done != nil {
			w.WriteString("\n")
			return ev.Done, w.Flush()
		}
		if err := w.Flush(); err != nil {
			return nil, err
		}
	}
}

// figures says in two lines how long a text took.
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
