package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// An option is an option of llama-server.
type option struct {
	names string // on the command line, separated by spaces
	env   string // name of its variable without LLAMA_ARG_; "": none
	flag  string // the flag of stencil that it sets
	takes bool   // it takes a value
	value string // value for the flag, if the option takes none
	// convert converts a value to the form of the flag; nil: no conversion. If the result is empty, the flag is not set.
	convert func(string) (string, error)
	write   func(string) ([]string, error) // returns the flags to set, with values, if flag is not enough
	collect string                         // a request field that is a list; each use of the option adds an entry
	instead string                         // for an option without an equivalent: the reason, or what to use
}

// Explanations that several options share.
const (
	noImages  = "images, sound and video are not read"
	noDrafter = "drafts are guessed from the text, without a model: --draft N"
	noTools   = "stencil serve --agent-folder gives agents read-only tools; other tools and MCP servers are the client's"
	noCores   = "taskset and numactl choose a program's cores"
	noVectors = "control vectors are not applied; --lora applies adapters"
	noUI      = "there is no web UI"
	states    = "--checkpoint-bytes bounds the memory for states of prompts, in bytes"
)

// options are the options of llama-server that have other names or forms here, that request what stencil does anyway (these
// have neither flag nor instead), or that have no equivalent. Options with the same name and meaning are not listed.
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
	{names: "-ctv --cache-type-v", env: "CACHE_TYPE_V", takes: true}, // must equal --cache-type-k; see LlamaServer
	{names: "-dev --device", env: "DEVICE", flag: "device", takes: true, write: device},
	{names: "-lm --load-mode", env: "LOAD_MODE", flag: "mlock", takes: true, write: loadMode},
	{names: "--mmap", env: "MMAP"}, {names: "--no-mmap", flag: "no-mmap", value: "true"}, {names: "--mlock", env: "MLOCK", flag: "mlock", value: "true"},
	{names: "--check-tensors", flag: "check-tensors", value: "true"},
	{names: "--lora", flag: "lora", takes: true, write: each("lora", nil)},
	{names: "--lora-scaled", flag: "lora", takes: true, write: each("lora", scaled)},
	{names: "-ot --override-tensor", env: "OVERRIDE_TENSOR", flag: "override-tensor", takes: true},
	{names: "-cmoe --cpu-moe", env: "CPU_MOE", flag: "cpu-moe", value: "true"}, {names: "-ncmoe --n-cpu-moe", env: "N_CPU_MOE", flag: "n-cpu-moe", takes: true},
	{names: "-ncffn --n-cpu-ffn", env: "N_CPU_FFN", flag: "n-cpu-ffn", takes: true},
	{names: "--sleep-idle-seconds", flag: "sleep", takes: true, convert: idle},
	{names: "--models-max", env: "MODELS_MAX", flag: "models-max", takes: true},
	{names: "--models-autoload", env: "MODELS_AUTOLOAD", flag: "no-models-autoload", convert: not}, {names: "--no-models-autoload", flag: "no-models-autoload", value: "true"},
	{names: "-m --model", env: "MODEL", flag: "model", takes: true},
	{names: "--models-dir", env: "MODELS_DIR", flag: "models", takes: true},
	{names: "-a --alias", env: "ALIAS", flag: "alias", takes: true},
	{names: "--tags", env: "TAGS", flag: "tags", takes: true},
	{names: "--host", env: "HOST", flag: "host", takes: true},
	{names: "--port", env: "PORT", flag: "port", takes: true},
	{names: "-to --timeout", env: "TIMEOUT", flag: "request-timeout", takes: true, convert: seconds},
	{names: "--ssl-key-file", env: "SSL_KEY_FILE", flag: "tls-key", takes: true},
	{names: "--ssl-cert-file", env: "SSL_CERT_FILE", flag: "tls-cert", takes: true},
	{names: "--api-key-file", env: "API_KEY_FILE", flag: "api-key-file", takes: true},
	{names: "--cors-origins", env: "CORS_ORIGINS", flag: "allowed-origin", takes: true, convert: origins},
	{names: "-v --verbose --log-verbose", flag: "verbose", value: "true"},
	{names: "-lv --verbosity --log-verbosity", env: "LOG_VERBOSITY", flag: "log-level", takes: true, convert: logLevel},
	{names: "--log-disable", flag: "log-level", value: "error"},
	{names: "--log-jsonl", env: "LOG_JSONL", flag: "log-format", value: "json"}, {names: "--no-log-jsonl", flag: "log-format", value: "text"},
	{names: "--metrics", env: "ENDPOINT_METRICS", flag: "llamacpp-metrics", value: "true"},
	{names: "--no-slots", flag: "no-slots", value: "true"},
	{names: "--slot-save-path", flag: "slot-save-path", takes: true},
	{names: "-cram --cache-ram", env: "CACHE_RAM", flag: "checkpoint-bytes", takes: true, convert: mebibytes},
	{names: "--embedding --embeddings", env: "EMBEDDINGS", flag: "embeddings", value: "true"},
	{names: "-hf -hfr --hf-repo", env: "HF_REPO", flag: "hf-repo", takes: true},
	{names: "-hff --hf-file", env: "HF_FILE", flag: "hf-file", takes: true},
	{names: "-hft --hf-token", flag: "hf-token", takes: true},
	{names: "-mu --model-url", env: "MODEL_URL", flag: "model-url", takes: true},
	{names: "--offline", env: "OFFLINE", flag: "offline", value: "true"},
	{names: "--draft-max --draft-n --draft --spec-draft-n-max", env: "SPEC_DRAFT_N_MAX", flag: "draft", takes: true},
	{names: "-sm --split-mode", env: "SPLIT_MODE", flag: "split-mode", takes: true},
	{names: "-ts --tensor-split", env: "TENSOR_SPLIT", flag: "tensor-split", takes: true, convert: commas},
	{names: "-mg --main-gpu", env: "MAIN_GPU", flag: "main-gpu", takes: true},
	{names: "--rope-scaling", env: "ROPE_SCALING_TYPE", flag: "rope-scaling", takes: true}, {names: "--rope-scale", env: "ROPE_SCALE", flag: "rope-freq-scale", takes: true, convert: inverse},
	{names: "--rope-freq-base", env: "ROPE_FREQ_BASE", flag: "rope-freq-base", takes: true}, {names: "--rope-freq-scale", env: "ROPE_FREQ_SCALE", flag: "rope-freq-scale", takes: true},
	{names: "--yarn-orig-ctx", env: "YARN_ORIG_CTX", flag: "yarn-orig-ctx", takes: true}, {names: "--yarn-ext-factor", env: "YARN_EXT_FACTOR", flag: "yarn-ext-factor", takes: true},
	{names: "--yarn-attn-factor", env: "YARN_ATTN_FACTOR", flag: "yarn-attn-factor", takes: true}, {names: "--yarn-beta-fast", env: "YARN_BETA_FAST", flag: "yarn-beta-fast", takes: true},
	{names: "--yarn-beta-slow", env: "YARN_BETA_SLOW", flag: "yarn-beta-slow", takes: true},
	{names: "--chat-template", env: "CHAT_TEMPLATE", flag: "chat-template", takes: true},
	{names: "--chat-template-file", env: "CHAT_TEMPLATE_FILE", flag: "chat-template-file", takes: true},
	{names: "--chat-template-kwargs", env: "CHAT_TEMPLATE_KWARGS", flag: "chat-template-kwargs", takes: true},
	{names: "-rea --reasoning", env: "REASONING", flag: "reasoning", takes: true},
	{names: "--reasoning-effort", env: "REASONING_EFFORT", flag: "reasoning-effort", takes: true, convert: unless("default")},
	{names: "--reasoning-budget", env: "THINK_BUDGET", flag: "reasoning-budget", takes: true},
	{names: "--reasoning-budget-message", env: "THINK_BUDGET_MESSAGE", flag: "reasoning-budget-message", takes: true},

	// Shorthands for models, with the settings that llama-server uses for them.
	{names: "--fim-qwen-1.5b-default", write: these("hf-repo=ggml-org/Qwen2.5-Coder-1.5B-Q8_0-GGUF", "hf-file=qwen2.5-coder-1.5b-q8_0.gguf", "port=8012", "batch=1024")},
	{names: "--fim-qwen-3b-default", write: these("hf-repo=ggml-org/Qwen2.5-Coder-3B-Q8_0-GGUF", "hf-file=qwen2.5-coder-3b-q8_0.gguf", "port=8012", "batch=1024")},
	{names: "--fim-qwen-7b-default", write: these("hf-repo=ggml-org/Qwen2.5-Coder-7B-Q8_0-GGUF", "hf-file=qwen2.5-coder-7b-q8_0.gguf", "port=8012", "batch=1024")},
	{names: "--fim-qwen-30b-default", write: these("hf-repo=ggml-org/Qwen3-Coder-30B-A3B-Instruct-Q8_0-GGUF", "hf-file=qwen3-coder-30b-a3b-instruct-q8_0.gguf", "port=8012", "batch=1024")},
	{names: "--embd-gemma-default", write: these("hf-repo=ggml-org/embeddinggemma-300M-qat-q4_0-GGUF", "hf-file=embeddinggemma-300M-qat-Q4_0.gguf", "port=8011", "batch=2048", "parallel=32", "embeddings=true")},
	{names: "--gpt-oss-20b-default", write: these("hf-repo=ggml-org/gpt-oss-20b-GGUF", "hf-file=gpt-oss-20b-mxfp4.gguf", "port=8013", "parallel=2", "context=262144", "temperature=1", "top-p=1", "top-k=0", "min-p=0.01")},
	{names: "--gpt-oss-120b-default", write: these("hf-repo=ggml-org/gpt-oss-120b-GGUF", "port=8013", "parallel=2", "context=262144", "temperature=1", "top-p=1", "top-k=0", "min-p=0.01")},

	// Samplers.
	{names: "--temp --temperature", env: "TEMPERATURE", flag: "temperature", takes: true},
	{names: "--top-k", env: "TOP_K", flag: "top-k", takes: true},
	{names: "--top-p", env: "TOP_P", flag: "top-p", takes: true},
	{names: "--min-p", env: "MIN_P", flag: "min-p", takes: true},
	{names: "--typical --typical-p", flag: "typical-p", takes: true},
	{names: "--repeat-penalty", env: "REPEAT_PENALTY", flag: "repeat-penalty", takes: true},
	{names: "--presence-penalty", env: "PRESENCE_PENALTY", flag: "presence-penalty", takes: true},
	{names: "--frequency-penalty", env: "FREQUENCY_PENALTY", flag: "frequency-penalty", takes: true},
	{names: "-s --seed", flag: "seed", takes: true, convert: seed},
	{names: "--samplers", flag: "sampling", takes: true, convert: field("samplers", names)}, {names: "--sampler-seq --sampling-seq", flag: "sampling", takes: true, convert: field("samplers", quoted)},
	{names: "--ignore-eos", flag: "sampling", value: "ignore_eos=true"},
	{names: "-l --logit-bias", takes: true, collect: "logit_bias", convert: bias},
	{names: "--dry-sequence-breaker", takes: true, collect: "dry_sequence_breakers", convert: breaker},
	{names: "--top-nsigma --top-n-sigma", flag: "sampling", takes: true, convert: field("top_n_sigma", nil)},
	{names: "--xtc-probability", flag: "sampling", takes: true, convert: field("xtc_probability", nil)}, {names: "--xtc-threshold", flag: "sampling", takes: true, convert: field("xtc_threshold", nil)},
	{names: "--repeat-last-n", flag: "sampling", takes: true, convert: field("repeat_last_n", nil)},
	{names: "--dry-multiplier", flag: "sampling", takes: true, convert: field("dry_multiplier", nil)}, {names: "--dry-base", flag: "sampling", takes: true, convert: field("dry_base", nil)},
	{names: "--dry-allowed-length", flag: "sampling", takes: true, convert: field("dry_allowed_length", nil)}, {names: "--dry-penalty-last-n", flag: "sampling", takes: true, convert: field("dry_penalty_last_n", nil)},
	{names: "--dynatemp-range", flag: "sampling", takes: true, convert: field("dynatemp_range", nil)}, {names: "--dynatemp-exp", flag: "sampling", takes: true, convert: field("dynatemp_exponent", nil)},
	{names: "--mirostat", flag: "sampling", takes: true, convert: field("mirostat", nil)}, {names: "--mirostat-lr", flag: "sampling", takes: true, convert: field("mirostat_eta", nil)},
	{names: "--mirostat-ent", flag: "sampling", takes: true, convert: field("mirostat_tau", nil)},
	{names: "--grammar", takes: true, instead: "requests have grammar"}, {names: "--grammar-file", takes: true, instead: "requests have grammar"},
	{names: "-j --json-schema", takes: true, instead: "requests have json_schema"}, {names: "-jf --json-schema-file", takes: true, instead: "requests have json_schema"},
	{names: "--adaptive-target --adaptive-decay", takes: true, instead: "the sampler adaptive-p is not offered"},
	{names: "-r --reverse-prompt", takes: true, instead: "requests have stop"},

	// Options that request what stencil does anyway, or that make no difference to answers.
	{names: "--jinja", env: "JINJA"}, {names: "--slots", env: "ENDPOINT_SLOTS"}, {names: "-cb --cont-batching", env: "CONT_BATCHING"}, {names: "-kvu --kv-unified", env: "KV_UNIFIED"},
	{names: "--cache-prompt", env: "CACHE_PROMPT"}, {names: "--mmproj-auto --no-mmproj --no-mmproj-auto --mmproj-offload --no-mmproj-offload"},
	{names: "--no-webui --no-ui --no-ui-mcp-proxy --no-webui-mcp-proxy -no-ag --no-agent"}, {names: "--warmup"}, {names: "--no-warmup"}, {names: "--perf", env: "PERF"}, {names: "--no-perf"},
	{names: "-ub --ubatch-size", env: "UBATCH", takes: true}, {names: "--rerank --reranking", env: "RERANKING"}, {names: "--threads-http", env: "THREADS_HTTP", takes: true},
	{names: "--reasoning-format", takes: true, convert: oneOf("auto", "deepseek")}, {names: "--prefill-assistant", env: "PREFILL_ASSISTANT"}, {names: "--no-skip-chat-parsing"},
	{names: "--poll --poll-batch", takes: true}, {names: "--log-colors", takes: true}, {names: "--log-prefix --no-log-prefix --log-timestamps --no-log-timestamps"},
	{names: "--no-context-shift"}, {names: "--cache-reuse", env: "CACHE_REUSE", takes: true}, {names: "--cache-idle-slots", env: "CACHE_IDLE_SLOTS"},
	{names: "-fit --fit", env: "FIT", takes: true}, {names: "--keep", takes: true}, {names: "-e --escape --no-escape"}, {names: "-kvo --kv-offload", env: "KV_OFFLOAD"}, {names: "--repack", env: "REPACK"},
	{names: "-dt --defrag-thold", takes: true}, {names: "--op-offload"}, {names: "-bs --backend-sampling", env: "BACKEND_SAMPLING"}, {names: "--no-cors-credentials"},
	{names: "-sps --slot-prompt-similarity", takes: true}, {names: "--spec-type", env: "SPEC_TYPE", takes: true, convert: or("none", noDrafter)},
	{names: "--prio --prio-batch", takes: true, convert: or("0", "nice starts a program with another priority")}, {names: "--embd-normalize", takes: true, convert: or("2", "requests have embd_normalize")},
	{names: "--sse-ping-interval", takes: true, convert: pings}, {names: "-lzm --lazy-mode", takes: true, convert: oneOf("auto")},

	{names: "-mm --mmproj", env: "MMPROJ", takes: true, instead: noImages}, {names: "-mmu --mmproj-url", env: "MMPROJ_URL", takes: true, instead: noImages},
	{names: "--media-path -mmdev --mmproj-device --image-min-tokens --image-max-tokens --mtmd-batch-max-tokens --video-fps --video-timestamp-interval --video-ffmpeg-dir", takes: true, instead: noImages},
	{names: "--vision-gemma-4b-default --vision-gemma-12b-default", instead: noImages},
	{names: "--no-jinja", instead: "the model's own chat template is always used; --chat-template sets another"},
	{names: "--reasoning-preserve --no-reasoning-preserve", instead: "--chat-template-kwargs sets variables of templates, such as preserve_reasoning"},
	{names: "--skip-chat-parsing", instead: "answers are always read by their form; /completion has the text as it is"}, {names: "--no-prefill-assistant", instead: "requests have continue_final_message"},
	{names: "-dr --docker-repo", env: "DOCKER_REPO", takes: true, instead: "stencil pull URL downloads a model, and --model serves it"},
	{names: "--fim-qwen-7b-spec", instead: "--fim-qwen-7b-default --draft 8"}, {names: "--fim-qwen-14b-spec", instead: "-hf ggml-org/Qwen2.5-Coder-14B-Q8_0-GGUF --port 8012 --draft 8"},
	{names: "-md --model-draft -hfd -hfrd --hf-repo-draft -td --threads-draft -tbd --threads-batch-draft -Cd --cpu-mask-draft -Crd --cpu-range-draft --cpu-strict-draft --prio-draft --poll-draft", takes: true, instead: noDrafter},
	{names: "-Cbd --cpu-mask-batch-draft --cpu-strict-batch-draft --prio-batch-draft --poll-batch-draft -otd --override-tensor-draft -ncmoed --n-cpu-moe-draft -devd --device-draft", takes: true, instead: noDrafter},
	{names: "-ngld --gpu-layers-draft --n-gpu-layers-draft -ctkd --cache-type-k-draft -ctvd --cache-type-v-draft --draft-p-split --draft-p-min -lcs --lookup-cache-static -lcd --lookup-cache-dynamic", takes: true, instead: noDrafter},
	{names: "-cmoed --cpu-moe-draft --no-spec-draft-backend-sampling", instead: noDrafter},
	{names: "--draft-min --draft-n-min", takes: true, instead: "drafts are as long as pays off; --draft N bounds them"},
	{names: "--context-shift", env: "CONTEXT_SHIFT", instead: "a text ends where the context does; --context makes it longer"},
	{names: "-ctxcp --ctx-checkpoints --swa-checkpoints -cms --checkpoint-min-step", env: "CTX_CHECKPOINTS", takes: true, instead: states},
	{names: "--swa-full", env: "SWA_FULL", instead: states}, {names: "--no-cache-idle-slots", instead: "--checkpoint-bytes -1 keeps no states of prompts"}, {names: "--no-cache-prompt", instead: "requests have cache_prompt"},
	{names: "-no-kvu --no-kv-unified", instead: "the context is one for all requests, which --parallel bounds"}, {names: "--kv-unified-per-slot", takes: true, instead: "--context is for all requests together"},
	{names: "-nkvo --no-kv-offload --no-op-offload", instead: "what a layer needs is where the layer is, which --gpu-layers says"}, {names: "-nr --no-repack --no-host", instead: "llama.cpp chooses the form of weights"},
	{names: "-fitt --fit-target -fitc --fit-ctx", takes: true, instead: "--context and --gpu-layers say what is to fit"},
	{names: "--rpc", env: "RPC", takes: true, instead: "a model is computed on one machine; --upstream serves one that is elsewhere"},
	{names: "--numa", env: "NUMA", takes: true, instead: "numactl starts a program on some nodes"},
	{names: "-C --cpu-mask -Cr --cpu-range --cpu-strict -Cb --cpu-mask-batch -Crb --cpu-range-batch --cpu-strict-batch", takes: true, instead: noCores},
	{names: "--control-vector --control-vector-scaled --control-vector-layer-range", takes: true, instead: noVectors},
	{names: "--lora-init-without-apply", instead: "POST /lora-adapters sets the scales of adapters"},
	{names: "--tools --tools-runtime --mcp-servers-config --mcp-servers-json", takes: true, instead: noTools}, {names: "-ag --agent", instead: noTools},
	{names: "--ui-mcp-proxy --webui-mcp-proxy", instead: "this server does not proxy requests"},
	{names: "--ui --webui", instead: noUI}, {names: "--ui-config --webui-config --ui-config-file --webui-config-file", takes: true, instead: noUI},
	{names: "--models-preset", env: "MODELS_PRESET", takes: true, instead: "stencil.yaml holds flags, and a model's own options are those of a server with --model"},
	{names: "--pooling", env: "POOLING", takes: true, instead: "vectors are pooled as the file says, or --override-kv ARCH.pooling_type=int:N (1 mean, 2 CLS, 3 last)"},
	{names: "--spm-infill", instead: "/infill has the text before the cursor first"}, {names: "-sp --special", instead: "control tokens are no text; return_tokens and /detokenize have them"},
	{names: "--api-prefix", env: "API_PREFIX", takes: true, instead: "paths have no prefix; a proxy can cut one off"}, {names: "--path", env: "STATIC_PATH", takes: true, instead: "no files are served"},
	{names: "--cors-methods --cors-headers", takes: true, instead: "--allowed-origin says which pages may ask; methods and headers follow from the paths"}, {names: "--cors-credentials", instead: "cookies of other pages are not used"},
	{names: "--reuse-port", instead: "a port has one server"}, {names: "--props", env: "ENDPOINT_PROPS", instead: "settings don't change while the server runs"},
	{names: "--log-file", env: "LOG_FILE", takes: true, instead: "the log goes to standard error"}, {names: "--log-prompts-dir", takes: true, instead: "--log-bodies logs the bodies of requests"},
	{names: "-nocb --no-cont-batching", instead: "--parallel 1 has one request at a time"},
	{names: "-cl --cache-list", instead: "models of -hf are in ~/.cache/stencil/hub"}, {names: "--completion-bash", instead: "stencil completion bash writes it"},
	{names: "--list-devices", instead: "stencil devices lists them"}, {names: "--usage", instead: "stencil serve --help"},
}

// LlamaServer replaces the options of llama-server on a command line by flags of stencil. For an option without an equivalent
// it returns an error that says what to use instead. Only the command serve accepts these options.
func LlamaServer(args []string) ([]string, error) {
	at := slices.Index(args, "serve")
	for i := range max(at, 0) { // only flags may come before the command
		if !strings.HasPrefix(args[i], "-") && (i == 0 || args[i-1] != "--"+Flag) {
			return args, nil
		}
	}
	if at < 0 {
		return args, nil
	}
	out := slices.Clone(args[:at+1])
	rest := args[at+1:]
	lists := map[string][]string{}
	keys, values := "f16", ""
	for len(rest) > 0 {
		name, value, joined := strings.Cut(rest[0], "=")
		o := optionOf(name)
		if o == nil || rest[0] == "--" {
			out, rest = append(out, rest[0]), rest[1:]
			continue
		}
		rest = rest[1:]
		if o.instead != "" {
			return nil, o.refuse(name)
		}
		if o.flag == "flash-attention" && !joined && (len(rest) == 0 || strings.HasPrefix(rest[0], "-")) {
			value, joined = "on", true // as in versions where it took no value
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
		switch o.env {
		case "CACHE_TYPE_K":
			keys = value
		case "CACHE_TYPE_V":
			values = value
			continue
		}
		set, err := o.set(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if o.collect != "" {
			if lists[o.collect] = append(lists[o.collect], set...); len(set) == 0 {
				lists[o.collect] = []string{}
			}
			continue
		}
		out = append(out, set...)
	}
	if values != "" && values != keys {
		return nil, errCacheTypes
	}
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		out = append(out, "--sampling="+name+"=["+strings.Join(lists[name], ",")+"]")
	}
	return out, nil
}

// errCacheTypes: keys and values of the cache are to have types of their own.
var errCacheTypes = errors.New("llama-server's option -ctv is not one of stencil's: keys and values have one type, which -ctk or --cache-type sets")

func (o *option) refuse(name string) error {
	return fmt.Errorf("llama-server's option %s is not one of stencil's: %s", name, o.instead)
}

// set returns the flags to set for a value, or the entry to add to a list.
func (o *option) set(value string) ([]string, error) {
	if o.write != nil {
		return o.write(value)
	}
	value, err := o.converted(value)
	switch {
	case err != nil || value == "":
		return nil, err
	case o.collect != "":
		return []string{value}, nil
	case o.flag == "":
		return nil, nil
	}
	return []string{"--" + o.flag + "=" + value}, nil
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
	if strings.HasPrefix(name, "--spec-") {
		return &option{names: name, instead: noDrafter}
	}
	return nil
}

// llamaVariables adds our variables to an environment for llama-server's ones, except where ours are set.
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
		if i < 0 {
			continue
		}
		o := &options[i]
		if short == "CACHE_TYPE_V" && value != variable(environ, "LLAMA_ARG_CACHE_TYPE_K", "f16") {
			return nil, fmt.Errorf("%s: %w", name, errCacheTypes)
		}
		switch {
		case o.instead != "" && slices.Contains([]string{"", "0", "false", "off", "disabled", "none"}, value):
			continue
		case o.instead != "":
			return nil, o.refuse(name)
		case o.flag != "" && set[Variable(o.flag)]:
			continue
		case !o.takes && slices.Contains([]string{"0", "false", "off", "disabled"}, value) && o.convert == nil:
			continue
		case !o.takes && o.convert == nil:
			value = o.value
		}
		flags, err := o.set(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, flag := range flags {
			flag, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
			out = append(slices.Clip(out), Variable(flag)+"="+value)
		}
	}
	return out, nil
}

// variable returns the value of an environment variable, or usual if it is not set.
func variable(environ []string, name, usual string) string {
	for _, v := range environ {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return usual
}

// each returns a function that writes a flag for each of several values separated by commas.
func each(flag string, convert func(string) (string, error)) func(string) ([]string, error) {
	return func(v string) (out []string, err error) {
		for one := range strings.SplitSeq(v, ",") {
			if convert != nil {
				if one, err = convert(one); err != nil {
					return nil, err
				}
			}
			out = append(out, "--"+flag+"="+one)
		}
		return out, nil
	}
}

// these returns a function that sets fixed flags, regardless of the option's value.
func these(flags ...string) func(string) ([]string, error) {
	return func(string) (out []string, err error) {
		for _, flag := range flags {
			out = append(out, "--"+flag)
		}
		return out, nil
	}
}

// device accepts a device, or none to disable offloading.
func device(v string) ([]string, error) {
	if v == "none" {
		return []string{"--gpu-layers=0"}, nil
	}
	return []string{"--device=" + v}, nil
}

func loadMode(v string) ([]string, error) {
	switch v {
	case "auto", "mmap":
		return nil, nil
	case "none":
		return []string{"--no-mmap=true"}, nil
	case "mlock":
		return []string{"--no-mmap=true", "--mlock=true"}, nil
	case "mmap+mlock":
		return []string{"--mlock=true"}, nil
	}
	return nil, fmt.Errorf("%q is not offered; auto, none, mmap, mlock and mmap+mlock are", v)
}

// field returns a function that converts a value to a default for a request field.
func field(name string, convert func(string) (string, error)) func(string) (string, error) {
	return func(v string) (string, error) {
		if convert != nil {
			var err error
			if v, err = convert(v); err != nil {
				return "", err
			}
		}
		return name + "=" + v, nil
	}
}

func quoted(v string) (string, error) {
	raw, err := json.Marshal(v)
	return string(raw), err
}

// names converts names separated by semicolons to a JSON array.
func names(v string) (string, error) {
	raw, err := json.Marshal(strings.Split(v, ";"))
	return string(raw), err
}

// bias converts a token ID followed by a signed bias to an entry of logit_bias.
func bias(v string) (string, error) {
	i := strings.IndexAny(v, "+-")
	if i <= 0 {
		return "", fmt.Errorf("%q is not TOKEN+BIAS or TOKEN-BIAS", v)
	}
	id, err := strconv.ParseUint(v[:i], 10, 31)
	if err != nil {
		return "", fmt.Errorf("%q is not a token number", v[:i])
	}
	if v[i+1:] == "inf" && v[i] == '-' {
		return fmt.Sprintf("[%d,false]", id), nil
	}
	x, err := strconv.ParseFloat(v[i:], 32)
	if err != nil {
		return "", fmt.Errorf("%q is not a bias", v[i:])
	}
	return fmt.Sprintf("[%d,%g]", id, x), nil
}

// breaker converts a text with escapes to a JSON string; none disables all breakers.
func breaker(v string) (string, error) {
	if v == "none" {
		return "", nil
	}
	return quoted(strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r", `\"`, `"`, `\'`, "'", `\\`, `\`).Replace(v))
}

// or accepts only the value is, which sets nothing, and answers others with an error.
func or(is, instead string) func(string) (string, error) {
	return func(v string) (string, error) {
		if v != is {
			return "", errors.New(instead)
		}
		return "", nil
	}
}

// unless drops one value, so that the flag is not set.
func unless(usual string) func(string) (string, error) {
	return func(v string) (string, error) {
		if v == usual {
			return "", nil
		}
		return v, nil
	}
}

// mebibytes converts MiB to bytes; -1 is no limit, 0 disables.
func mebibytes(v string) (string, error) {
	n, err := strconv.ParseInt(v, 10, 32)
	switch {
	case err != nil || n < -1:
		return "", fmt.Errorf("%q is not a number of MiB", v)
	case n == -1:
		return strconv.FormatInt(math.MaxInt64, 10), nil
	case n == 0:
		return "-1", nil
	}
	return strconv.FormatInt(n<<20, 10), nil
}

// logLevel converts a log threshold of llama-server.
func logLevel(v string) (string, error) {
	n, err := strconv.Atoi(v)
	if err != nil {
		return "", fmt.Errorf("%q is not a number", v)
	}
	levels := []string{"error", "error", "warn", "info", "debug"}
	return levels[min(max(n, 0), len(levels)-1)], nil
}

// pings accepts intervals of at least the 15 seconds between pings of this server.
func pings(v string) (string, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < 15 {
		return "", errors.New("streams have a comment every 15 seconds in which nothing is written")
	}
	return "", nil
}

// commas replaces slashes between numbers by commas.
func commas(v string) (string, error) { return strings.ReplaceAll(v, "/", ","), nil }

// inverse converts a scale to its reciprocal.
func inverse(v string) (string, error) {
	x, err := strconv.ParseFloat(v, 32)
	if err != nil || x <= 0 {
		return "", fmt.Errorf("%q is not how many times as long the context becomes", v)
	}
	return strconv.FormatFloat(1/x, 'g', -1, 32), nil
}

// positive drops -1 and 0, which stand for the default.
func positive(v string) (string, error) {
	if v == "-1" || v == "0" {
		return "", nil
	}
	return v, nil
}

// limit converts a maximum number of tokens; -2, which stands for a full context, becomes -1.
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

// scaled converts FILE:SCALE to FILE=SCALE.
func scaled(v string) (string, error) {
	i := strings.LastIndexByte(v, ':')
	if i < 0 {
		return "", fmt.Errorf("%q is not FILE:SCALE", v)
	}
	return v[:i] + "=" + v[i+1:], nil
}

// idle converts seconds; -1 stands for never.
func idle(v string) (string, error) {
	if v == "-1" {
		return "0", nil
	}
	return seconds(v)
}

// not converts a switch to a flag with the opposite meaning that is off by default.
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
		return "", nil // a random seed, the default
	}
	return v, nil
}

// origins drops localhost, which is always allowed.
func origins(v string) (string, error) {
	if v == "localhost" {
		return "", nil
	}
	return v, nil
}

// oneOf accepts values that request what stencil does anyway, and rejects others.
func oneOf(values ...string) func(string) (string, error) {
	return func(v string) (string, error) {
		if !slices.Contains(values, v) {
			return "", fmt.Errorf("%q is not offered; %s is", v, strings.Join(values, ", "))
		}
		return "", nil
	}
}
