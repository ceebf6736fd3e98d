package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An option is one of llama-server's.
type option struct {
	names string // of the command line, separated by spaces
	env   string // of its variable, after LLAMA_ARG_; "": none
	flag  string // the flag of ours that it sets
	takes bool   // a value
	value string // of the flag, where the option takes none
	// convert brings a value into the flag's form; nil: it has it. An empty result leaves the flag as it is.
	convert func(string) (string, error)
	instead string // where there is nothing of the kind here: why, or what to use
}

// options are those of llama-server that have other names here, ask for what is so anyhow (neither a flag nor a word about
// it), or have nothing that corresponds to them. Those with our names and meanings aren't among them.
var options = []option{
	{names: "-c --ctx-size", env: "CTX_SIZE", flag: "context", takes: true},
	{names: "-np --parallel", env: "N_PARALLEL", flag: "parallel", takes: true, convert: positive},
	{names: "-t --threads", env: "THREADS", flag: "threads", takes: true, convert: positive},
	{names: "-tb --threads-batch", flag: "batch-threads", takes: true, convert: positive},
	{names: "-n --predict --n-predict", env: "N_PREDICT", flag: "max-tokens", takes: true, convert: limit},
	{names: "-b --batch-size", env: "BATCH", flag: "batch", takes: true},
	{names: "-ngl --gpu-layers --n-gpu-layers", env: "N_GPU_LAYERS", flag: "gpu-layers", takes: true, convert: layers},
	{names: "-fa --flash-attn", env: "FLASH_ATTN", flag: "flash-attention", takes: true, convert: onOff},
	{names: "-ctk --cache-type-k", env: "CACHE_TYPE_K", flag: "cache-type", takes: true},
	{names: "-ctv --cache-type-v", env: "CACHE_TYPE_V", takes: true, instead: "keys and values have one type, which --cache-type sets"},
	{names: "-dev --device", env: "DEVICE", flag: "device", takes: true},
	{names: "--lora-scaled", flag: "lora", takes: true, convert: scaled},
	{names: "--sleep-idle-seconds", flag: "sleep", takes: true, convert: idle},
	{names: "--models-max", env: "MODELS_MAX", flag: "models-max", takes: true},
	{names: "--models-autoload", env: "MODELS_AUTOLOAD", flag: "no-models-autoload", convert: not}, {names: "--no-models-autoload", flag: "no-models-autoload", value: "true"},
	{names: "-m --model", env: "MODEL", flag: "model", takes: true},
	{names: "--models-dir", env: "MODELS_DIR", flag: "models", takes: true},
	{names: "-a --alias", env: "ALIAS", flag: "alias", takes: true},
	{names: "--host", env: "HOST", flag: "host", takes: true},
	{names: "--port", env: "PORT", flag: "port", takes: true},
	{names: "-to --timeout", env: "TIMEOUT", flag: "request-timeout", takes: true, convert: seconds},
	{names: "--ssl-key-file", env: "SSL_KEY_FILE", flag: "tls-key", takes: true},
	{names: "--ssl-cert-file", env: "SSL_CERT_FILE", flag: "tls-cert", takes: true},
	{names: "--api-key-file", env: "API_KEY_FILE", flag: "api-key-file", takes: true},
	{names: "--cors-origins", env: "CORS_ORIGINS", flag: "allowed-origin", takes: true, convert: origins},
	{names: "-v --verbose --log-verbose", flag: "verbose", value: "true"},
	{names: "--metrics", env: "ENDPOINT_METRICS", flag: "llamacpp-metrics", value: "true"},
	{names: "--no-slots", flag: "no-slots", value: "true"},
	{names: "--temp --temperature", env: "TEMPERATURE", flag: "temperature", takes: true},
	{names: "--top-k", env: "TOP_K", flag: "top-k", takes: true},
	{names: "--top-p", env: "TOP_P", flag: "top-p", takes: true},
	{names: "--min-p", env: "MIN_P", flag: "min-p", takes: true},
	{names: "--typical --typical-p", flag: "typical-p", takes: true},
	{names: "--repeat-penalty", env: "REPEAT_PENALTY", flag: "repeat-penalty", takes: true},
	{names: "--presence-penalty", env: "PRESENCE_PENALTY", flag: "presence-penalty", takes: true},
	{names: "--frequency-penalty", env: "FREQUENCY_PENALTY", flag: "frequency-penalty", takes: true},
	{names: "-s --seed", flag: "seed", takes: true, convert: seed},
	{names: "--chat-template", env: "CHAT_TEMPLATE", flag: "chat-template", takes: true},
	{names: "--chat-template-file", env: "CHAT_TEMPLATE_FILE", flag: "chat-template-file", takes: true},
	{names: "--chat-template-kwargs", env: "CHAT_TEMPLATE_KWARGS", flag: "chat-template-kwargs", takes: true},
	{names: "-rea --reasoning", env: "REASONING", flag: "reasoning", takes: true},
	{names: "--reasoning-budget", env: "THINK_BUDGET", flag: "reasoning-budget", takes: true},
	{names: "--reasoning-budget-message", env: "THINK_BUDGET_MESSAGE", flag: "reasoning-budget-message", takes: true},
	{names: "-mm --mmproj", env: "MMPROJ", takes: true, instead: "images are not read"},
	{names: "-mmu --mmproj-url", env: "MMPROJ_URL", takes: true, instead: "images are not read"},
	{names: "--media-path", takes: true, instead: "images are not read"},

	// What is so anyhow, or makes no difference to an answer.
	{names: "--jinja"}, {names: "--slots"}, {names: "-cb --cont-batching"}, {names: "-kvu --kv-unified"}, {names: "--cache-prompt"}, {names: "--no-mmproj --no-mmproj-auto"},
	{names: "--no-webui --no-ui"}, {names: "--warmup"}, {names: "--no-warmup"}, {names: "--perf"}, {names: "--no-perf"}, {names: "-ub --ubatch-size", takes: true}, {names: "--embedding", flag: "embeddings", value: "true"},
	{names: "--rerank --reranking"}, {names: "--mmap"}, {names: "--threads-http", takes: true}, {names: "--reasoning-format", takes: true, convert: oneOf("auto", "deepseek")}, {names: "--prefill-assistant"},
	{names: "--prio", takes: true}, {names: "--poll", takes: true}, {names: "--log-disable", flag: "log-level", value: "error"}, {names: "--log-colors", takes: true}, {names: "--log-prefix"}, {names: "--log-timestamps"},
	{names: "--no-context-shift"}, {names: "-lv --verbosity --log-verbosity", takes: true}, {names: "--cache-reuse", takes: true}, {names: "--cache-idle-slots"}, {names: "-fit --fit", takes: true}, {names: "--offline"},

	{names: "--no-jinja", instead: "the model's own chat template is always used; --chat-template sets another"},
	{names: "-hf -hfr --hf-repo", env: "HF_REPO", flag: "hf-repo", takes: true},
	{names: "-hff --hf-file", env: "HF_FILE", flag: "hf-file", takes: true},
	{names: "-hft --hf-token", flag: "hf-token", takes: true},
	{names: "-mu --model-url", env: "MODEL_URL", flag: "model-url", takes: true},
	{names: "-dr --docker-repo", env: "DOCKER_REPO", takes: true, instead: "stencil pull URL downloads a model, and --model serves it"},
	{names: "-md --model-draft --spec-draft-model", takes: true, instead: "drafts are guessed from the text, without a model: --draft N"},
	{names: "--spec-type", takes: true, instead: "drafts are guessed from the text, without a model: --draft N"},
	{names: "--draft-max --draft-n --spec-draft-n-max", flag: "draft", takes: true},
	{names: "--draft-min --draft-n-min --spec-draft-n-min", takes: true, instead: "drafts are as long as pays off; --draft N bounds them"},
	{names: "--context-shift", env: "CONTEXT_SHIFT", instead: "a text ends where the context does; --context makes it longer"},
	{names: "--slot-save-path", takes: true, instead: "--prompt-cache FOLDER keeps the states of prompts on disk, for all requests"},
	{names: "-cram --cache-ram", env: "CACHE_RAM", takes: true, instead: "--checkpoint-bytes bounds the memory for states of prompts, in bytes"},
	{names: "-ctxcp --ctx-checkpoints --swa-checkpoints", takes: true, instead: "--checkpoint-bytes bounds the memory for states of prompts, in bytes"},
	{names: "--swa-full", instead: "--checkpoint-bytes bounds the memory for states of prompts that can't be cut back"},
	{names: "-sm --split-mode", env: "SPLIT_MODE", flag: "split-mode", takes: true},
	{names: "-ts --tensor-split", env: "TENSOR_SPLIT", flag: "tensor-split", takes: true, convert: commas},
	{names: "-mg --main-gpu", env: "MAIN_GPU", flag: "main-gpu", takes: true},
	{names: "-ot --override-tensor", takes: true, instead: "--gpu-layers says how many layers devices hold"},
	{names: "-cmoe --cpu-moe", instead: "--gpu-layers says how many layers devices hold"},
	{names: "-ncmoe --n-cpu-moe", takes: true, instead: "--gpu-layers says how many layers devices hold"},
	{names: "--rope-scaling", env: "ROPE_SCALING_TYPE", flag: "rope-scaling", takes: true}, {names: "--rope-scale", env: "ROPE_SCALE", flag: "rope-freq-scale", takes: true, convert: inverse},
	{names: "--rope-freq-base", env: "ROPE_FREQ_BASE", flag: "rope-freq-base", takes: true}, {names: "--rope-freq-scale", env: "ROPE_FREQ_SCALE", flag: "rope-freq-scale", takes: true},
	{names: "--yarn-orig-ctx", env: "YARN_ORIG_CTX", flag: "yarn-orig-ctx", takes: true}, {names: "--yarn-ext-factor", env: "YARN_EXT_FACTOR", flag: "yarn-ext-factor", takes: true},
	{names: "--yarn-attn-factor", env: "YARN_ATTN_FACTOR", flag: "yarn-attn-factor", takes: true}, {names: "--yarn-beta-fast", env: "YARN_BETA_FAST", flag: "yarn-beta-fast", takes: true},
	{names: "--yarn-beta-slow", env: "YARN_BETA_SLOW", flag: "yarn-beta-slow", takes: true},
	{names: "--rpc", takes: true, instead: "a model is computed on one machine; --upstream serves one that is elsewhere"},
	{names: "--numa", takes: true, instead: "numactl starts a program on some nodes"},
	{names: "--samplers", takes: true, instead: "requests have samplers"}, {names: "--sampler-seq --sampling-seq", takes: true, instead: "requests have samplers"},
	{names: "--ignore-eos", instead: "requests have ignore_eos"}, {names: "-l --logit-bias", takes: true, instead: "requests have logit_bias"},
	{names: "--grammar", takes: true, instead: "requests have grammar"}, {names: "--grammar-file", takes: true, instead: "requests have grammar"},
	{names: "-j --json-schema", takes: true, instead: "requests have json_schema"}, {names: "-jf --json-schema-file", takes: true, instead: "requests have json_schema"},
	{names: "--tools", takes: true, instead: "stencil serve --agent-folder gives agents read-only tools"}, {names: "--mcp-servers-config", takes: true, instead: "MCP servers are the client's"},
	{names: "--mcp-servers-json", takes: true, instead: "MCP servers are the client's"},
	{names: "--models-preset", takes: true, instead: "stencil.yaml holds flags"}, {names: "--pooling", takes: true, instead: "vectors are pooled as the file says"},
	{names: "--api-prefix", takes: true, instead: "paths have no prefix; a proxy can cut one off"}, {names: "--path", takes: true, instead: "no files are served"},
	{names: "--control-vector", takes: true, instead: "--lora applies adapters"},
	{names: "--log-file", takes: true, instead: "the log goes to standard error"}, {names: "--no-cont-batching -nocb", instead: "--parallel 1 has one request at a time"},
}

// LlamaServer returns the arguments of a command line with llama-server's options in the words of this program. An option
// that there isn't here is an error that says what there is instead. Only the command serve has them.
func LlamaServer(args []string) ([]string, error) {
	at := slices.Index(args, "serve")
	for i := range max(at, 0) { // what stands before a command are flags
		if !strings.HasPrefix(args[i], "-") && (i == 0 || args[i-1] != "--"+Flag) {
			return args, nil
		}
	}
	if at < 0 {
		return args, nil
	}
	out := slices.Clone(args[:at+1])
	rest := args[at+1:]
	for len(rest) > 0 {
		name, value, joined := strings.Cut(rest[0], "=")
		o := optionOf(name)
		if o == nil || rest[0] == "--" {
			out, rest = append(out, rest[0]), rest[1:]
			continue
		}
		rest = rest[1:]
		if o.instead != "" {
			return nil, fmt.Errorf("llama-server's option %s is not one of stencil's: %s", name, o.instead)
		}
		if o.flag == "flash-attention" && !joined && (len(rest) == 0 || strings.HasPrefix(rest[0], "-")) {
			value, joined = "on", true // as it was before it took a value
		}
		if o.takes && !joined {
			if len(rest) == 0 {
				return nil, fmt.Errorf("%s needs a value", name)
			}
			value, rest = rest[0], rest[1:]
		}
		if !o.takes && !joined {
			value = o.value
		}
		value, err := o.converted(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if o.flag != "" && value != "" {
			out = append(out, "--"+o.flag+"="+value)
		}
	}
	return out, nil
}

func (o *option) converted(value string) (string, error) {
	if o.convert == nil {
		return value, nil
	}
	return o.convert(value)
}

func optionOf(name string) *option {
	if !strings.HasPrefix(name, "-") {
		return nil
	}
	for i := range options {
		if slices.Contains(strings.Fields(options[i].names), name) {
			return &options[i]
		}
	}
	return nil
}

// llamaVariables returns an environment with llama-server's variables as ours where ours are not set.
func llamaVariables(environ []string) ([]string, error) {
	set := map[string]bool{}
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		set[name] = true
	}
	out := environ
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if name == "LLAMA_API_KEY" && !set[Variable("api-key")] {
			out = append(slices.Clip(out), Variable("api-key")+"="+value)
		}
		if name == "HF_TOKEN" && !set[Variable("hf-token")] {
			out = append(slices.Clip(out), Variable("hf-token")+"="+value)
		}
		short, ours := strings.CutPrefix(name, "LLAMA_ARG_")
		if !ours {
			continue
		}
		i := slices.IndexFunc(options, func(o option) bool { return o.env == short })
		if i < 0 || options[i].flag == "" || set[Variable(options[i].flag)] {
			continue
		}
		value, err := options[i].converted(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if value != "" {
			out = append(slices.Clip(out), Variable(options[i].flag)+"="+value)
		}
	}
	return out, nil
}

// commas takes slashes between numbers too.
func commas(v string) (string, error) { return strings.ReplaceAll(v, "/", ","), nil }

// inverse is one by the number.
func inverse(v string) (string, error) {
	x, err := strconv.ParseFloat(v, 32)
	if err != nil || x <= 0 {
		return "", fmt.Errorf("%q is not how many times as long the context becomes", v)
	}
	return strconv.FormatFloat(1/x, 'g', -1, 32), nil
}

// positive leaves the flag as it is where -1 stands for "as usual".
func positive(v string) (string, error) {
	if v == "-1" || v == "0" {
		return "", nil
	}
	return v, nil
}

// limit is a number of tokens, -1 for none: as many as the context has room for.
func limit(v string) (string, error) {
	if v == "-2" {
		return "-1", nil
	}
	return v, nil
}

func layers(v string) (string, error) {
	if v == "auto" || v == "all" {
		return "-1", nil
	}
	return v, nil
}

func onOff(v string) (string, error) {
	switch v {
	case "1", "true", "enabled":
		return "on", nil
	case "0", "false", "disabled":
		return "off", nil
	}
	return v, nil
}

// scaled is FILE:SCALE, as FILE=SCALE.
func scaled(v string) (string, error) {
	i := strings.LastIndexByte(v, ':')
	if i < 0 {
		return "", fmt.Errorf("%q is not FILE:SCALE", v)
	}
	return v[:i] + "=" + v[i+1:], nil
}

// idle is seconds, -1 for never.
func idle(v string) (string, error) {
	if v == "-1" {
		return "0", nil
	}
	return seconds(v)
}

// not is for a flag that says the opposite, off by default.
func not(v string) (string, error) {
	if v == "0" || v == "false" || v == "off" || v == "disabled" {
		return "true", nil
	}
	return "", nil
}

func seconds(v string) (string, error) {
	if _, err := strconv.ParseFloat(v, 64); err != nil {
		return "", fmt.Errorf("%q is not a number of seconds", v)
	}
	return v + "s", nil
}

func seed(v string) (string, error) {
	if strings.HasPrefix(v, "-") {
		return "", nil // a random one, as usual
	}
	return v, nil
}

// origins leaves out what may ask anyhow.
func origins(v string) (string, error) {
	if v == "localhost" {
		return "", nil
	}
	return v, nil
}

// oneOf accepts the values that ask for what is so anyhow.
func oneOf(values ...string) func(string) (string, error) {
	return func(v string) (string, error) {
		if !slices.Contains(values, v) {
			return "", fmt.Errorf("%q is not offered; %s is", v, strings.Join(values, ", "))
		}
		return "", nil
	}
}
