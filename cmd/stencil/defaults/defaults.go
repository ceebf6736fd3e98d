// Package defaults has the flags of a server for defaults of requests: sampler options, the chat template, whether
// models reason and how sure they must be of tool calls.
package defaults

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/server"
	"github.com/stencil-json/stencil/server/request"
)

// Flags are the defaults for fields that requests don't set.
type Flags struct {
	flags        *pflag.FlagSet // the set that they are registered in
	template     string
	templateFile string
	variables    string
	reasoning    string
	over         string
	budget       int
	confidence   float32
	sure         float32
	effort       string
	fields       []string
}

// samplingDefaults are the flags for sampler options; the request fields have underscores instead of hyphens.
var samplingDefaults = []string{"temperature", "top-k", "top-p", "min-p", "typical-p", "repeat-penalty", "presence-penalty", "frequency-penalty", "seed"}

const (
	toolConfidence = "tool-confidence"
	callConfidence = "call-confidence"
)

// Sampling registers the flags for sampler options.
func (f *Flags) Sampling(flags *pflag.FlagSet) {
	f.flags = flags
	for _, name := range samplingDefaults {
		switch name {
		case "top-k":
			flags.Int(name, 0, "top_k of requests that don't set one (default: their API's)")
		case "seed":
			flags.Uint64(name, 0, "seed of requests that don't set one (default: random)")
		default:
			flags.Float32(name, 0, strings.ReplaceAll(name, "-", "_")+" of requests that don't set one (default: their API's)")
		}
	}
	flags.StringArrayVar(&f.fields, "sampling", nil, "default of another sampler field, `FIELD=VALUE` with a value in JSON; may be repeated")
}

// Chat registers the flags for chats.
func (f *Flags) Chat(flags *pflag.FlagSet) {
	flags.StringVar(&f.template, "chat-template", "", "chat template to use in place of the model's: Jinja, or chatml, llama3, command-r")
	flags.StringVar(&f.templateFile, "chat-template-file", "", "file with a chat template in Jinja to use in place of the model's")
	flags.StringVar(&f.variables, "chat-template-kwargs", "", `variables of chat templates, a JSON object such as {"enable_thinking":false}`)
	flags.StringVar(&f.reasoning, "reasoning", "", "whether models think unless a request says: on, off or auto (default: as trained)")
	flags.StringVar(&f.effort, "reasoning-effort", "", "reasoning_effort for chat templates, unless a request says, such as low or high")
	flags.Float32Var(&f.confidence, toolConfidence, 0, "least probability of a tool call at an answer's beginning, unless a request says (default: no bound)")
	flags.Float32Var(&f.sure, callConfidence, request.DefaultCallLeast, "least certainty of a tool call that is not in the model's own form, unless a request says")
	flags.IntVar(&f.budget, "reasoning-budget", -1, "maximum number of reasoning tokens, unless a request says; 0: no reasoning, -1: no limit")
	flags.StringVar(&f.over, "reasoning-budget-message", "", "words that end reasoning which is longer than its limit")
}

// Set stores the flags in a server configuration.
func (f *Flags) Set(c *server.Config) error {
	d := &c.Defaults
	d.Sampling = map[string]json.RawMessage{}
	for _, name := range samplingDefaults {
		if flag := f.flags.Lookup(name); flag.Changed {
			d.Sampling[strings.ReplaceAll(name, "-", "_")] = json.RawMessage(flag.Value.String())
		}
	}
	for _, one := range f.fields {
		name, value, _ := strings.Cut(one, "=")
		if !slices.Contains(request.SamplingFields, name) || !json.Valid([]byte(value)) {
			return fmt.Errorf("--sampling %s: it must be FIELD=VALUE, the value in JSON and the field one of %s", one, strings.Join(request.SamplingFields, ", "))
		}
		d.Sampling[name] = json.RawMessage(value)
	}
	d.ThinkOver = f.over
	if f.flags.Lookup(toolConfidence).Changed {
		d.ToolLeast = &f.confidence
	}
	if f.flags.Lookup(callConfidence).Changed {
		d.CallLeast = &f.sure
	}
	if err := d.Check(); err != nil {
		return err
	}
	if f.variables != "" {
		if err := json.Unmarshal([]byte(f.variables), &d.Variables); err != nil {
			return fmt.Errorf("--chat-template-kwargs must be a JSON object: %w", err)
		}
	}
	if _, said := d.Variables["reasoning_effort"]; f.effort != "" && !said {
		if d.Variables == nil {
			d.Variables = map[string]any{}
		}
		d.Variables["reasoning_effort"] = f.effort
	}
	switch f.reasoning {
	case "on", "off":
		d.Thoughts = f.reasoning
	case "auto":
		d.Thoughts = "on" // as in llama-server: templates are told that models may reason
	case "":
	default:
		return fmt.Errorf("--reasoning must be on, off or auto, not %q", f.reasoning)
	}
	switch {
	case f.budget < -1:
		return errors.New("--reasoning-budget must be -1 or more")
	case f.budget == 0:
		d.Thoughts = "off"
	case f.budget > 0:
		d.ThinkTokens = f.budget
	}
	return f.setTemplate(c)
}

func (f *Flags) setTemplate(c *server.Config) error {
	source := f.template
	if known, ok := namedTemplates[source]; ok {
		source = known
	} else if source != "" && !strings.ContainsAny(source, "{ ") {
		return fmt.Errorf("there is no chat template %q; --chat-template-file reads one in Jinja", source)
	}
	if f.templateFile != "" {
		if source != "" {
			return errors.New("--chat-template and --chat-template-file exclude each other")
		}
		text, err := os.ReadFile(f.templateFile)
		if err != nil {
			return err
		}
		source = string(text)
	}
	if source == "" {
		return nil
	}
	if err := chat.Check(source); err != nil {
		return fmt.Errorf("the chat template can't be read: %w", err)
	}
	c.ChatTemplate = source
	return nil
}

// namedTemplates are the chat templates with names, for files that lack one.
var namedTemplates = map[string]string{
	"chatml": chat.ChatML,
	"llama3": `{% for m in messages %}{{ '<|start_header_id|>' + m.role + '<|end_header_id|>\n\n' + m.content | trim + '<|eot_id|>' }}{% endfor %}` +
		`{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}`,
	"command-r": `{% for m in messages %}{{ '<|START_OF_TURN_TOKEN|>' + {'system': '<|SYSTEM_TOKEN|>', 'user': '<|USER_TOKEN|>', 'assistant': '<|CHATBOT_TOKEN|>'}[m.role] + m.content | trim + '<|END_OF_TURN_TOKEN|>' }}{% endfor %}` +
		`{% if add_generation_prompt %}{{ '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>' }}{% endif %}`,
}
