package config

import (
	"slices"
	"strings"
	"testing"
)

func TestLlamaServer(t *testing.T) {
	for args, want := range map[string]string{
		"serve -m a.gguf -c 4096 -np 4 -ngl 99 -t 8":        "serve --model=a.gguf --context=4096 --parallel=4 --gpu-layers=99 --threads=8",
		"serve --ctx-size=4096 --temp 0.5 -fa --jinja":      "serve --context=4096 --temperature=0.5 --flash-attention=on",
		"serve -fa off --no-webui -n -2 -ub 512 --seed -1":  "serve --flash-attention=off --max-tokens=-1",
		"serve --lora-scaled a.gguf:0.5 -to 600 -ngl all":   "serve --lora=a.gguf=0.5 --request-timeout=600s --gpu-layers=-1",
		"--config off serve --grace 5s -v":                  "--config off serve --grace 5s --verbose=true",
		"generate -n 5 -c 10":                               "generate -n 5 -c 10",
		"serve --reasoning-budget 0 --chat-template chatml": "serve --reasoning-budget=0 --chat-template=chatml",
		"serve --models-max 2 --sleep-idle-seconds 60 --sleep-idle-seconds -1 --no-models-autoload --alias a,b": "serve --models-max=2 --sleep=60s --sleep=0 --no-models-autoload=true --alias=a,b",
		"serve -ts 3/1 -sm layer -mg 1 --rope-scale 4 --override-kv a=int:1 --yarn-ext-factor 0":                "serve --tensor-split=3,1 --split-mode=layer --main-gpu=1 --rope-freq-scale=0.25 --override-kv a=int:1 --yarn-ext-factor=0",
		"serve -hf a/b:Q8_0 -hff c.gguf -hft t":                                                                 "serve --hf-repo=a/b:Q8_0 --hf-file=c.gguf --hf-token=t",
		"serve --ssl-key-file k --ssl-cert-file c --slots -cb":                                                  "serve --tls-key=k --tls-cert=c",
		"serve --fim-qwen-1.5b-default --port 9":                                                                "serve --hf-repo=ggml-org/Qwen2.5-Coder-1.5B-Q8_0-GGUF --hf-file=qwen2.5-coder-1.5b-q8_0.gguf --port=8012 --batch=1024 --port=9",
		"serve -ctk q8_0 -ctv q8_0 -ctv q8_0":                                                                   "serve --cache-type=q8_0",
		"serve --cache-type-v=f16":                                                                              "serve",
		"serve -ot exps=CPU -cmoe -ncmoe 3 --n-cpu-ffn 2":                                                       "serve --override-tensor=exps=CPU --cpu-moe=true --n-cpu-moe=3 --n-cpu-ffn=2",
		"serve --lora a,b --lora-scaled c:0.5,d:2 -dev none -lm mlock":                                          "serve --lora=a --lora=b --lora=c=0.5 --lora=d=2 --gpu-layers=0 --no-mmap=true --mlock=true",
		"serve -cram 8 -cram -1 -cram 0 -lv 4 -lv 9 -lv -1 --log-jsonl --load-mode auto":                        "serve --checkpoint-bytes=8388608 --checkpoint-bytes=9223372036854775807 --checkpoint-bytes=-1 --log-level=debug --log-level=debug --log-level=error --log-format=json",
		"serve --samplers top_k;temperature --mirostat 2 -l 5+1 --ignore-eos -l 6-inf --logit-bias 7-0.5":       `serve --sampling=samplers=["top_k","temperature"] --sampling=mirostat=2 --sampling=ignore_eos=true --sampling=logit_bias=[[5,1],[6,false],[7,-0.5]]`,
		`serve --dry-sequence-breaker none --dry-sequence-breaker \n --sampler-seq kt`:                          `serve --sampling=samplers="kt" --sampling=dry_sequence_breakers=["\n"]`,
		"serve --dry-sequence-breaker none --reasoning-effort default --reasoning-effort low --spec-type none":  "serve --reasoning-effort=low --sampling=dry_sequence_breakers=[]",
		"serve --prio 0 --sse-ping-interval 30 --lazy-mode auto --slot-save-path d --embd-normalize 2":          "serve --slot-save-path=d",
	} {
		got, err := LlamaServer(strings.Fields(args))
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v %v", args, got, err)
		}
	}
	for args, want := range map[string]string{
		"serve --spec-type ngram":        "--draft",
		"serve --spec-ngram-mod-n-max 3": "--draft",
		"serve -ctv q8_0":                "one type",
		"serve -ctv q8_0 -ctk f16":       "one type",
		"serve --fim-qwen-7b-spec":       "--draft 8",
		"serve --prio 2":                 "nice",
		"serve --sse-ping-interval -1":   "15 seconds",
		"serve -l 5":                     "TOKEN+BIAS",
		"serve -l x+1":                   "not a token number",
		"serve -cram x":                  "MiB",
		"serve -lm dio":                  "mmap+mlock",
		"serve --lora-scaled a:1,b":      "FILE:SCALE",
		"serve --rope-scale 0":           "how many times",
		"serve --mmproj x":               "images",
		"serve --no-jinja":               "--chat-template",
		"serve -c":                       "needs a value",
		"serve --timeout x":              "not a number of seconds",
		"serve --lora-scaled x":          "FILE:SCALE",
		"serve --reasoning-format none":  "not offered",
	} {
		if got, err := LlamaServer(strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v %v", args, got, err)
		}
	}
	seen := map[string]bool{}
	for _, o := range options {
		for _, name := range strings.Fields(o.names) {
			if seen[name] {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
	}
}

func TestLlamaVariables(t *testing.T) {
	got, err := llamaVariables([]string{"LLAMA_ARG_CTX_SIZE=99", "LLAMA_ARG_PORT=1", "STENCIL_PORT=2", "LLAMA_ARG_FLASH_ATTN=1", "LLAMA_ARG_CACHE_RAM=1", "LLAMA_API_KEY=k", "A=b", "LLAMA_ARG_MODELS_AUTOLOAD=0",
		"LLAMA_ARG_CPU_MOE=1", "LLAMA_ARG_OFFLINE=0", "LLAMA_ARG_SWA_FULL=false", "LLAMA_ARG_JINJA=1", "LLAMA_ARG_DEVICE=none", "LLAMA_ARG_NOTHING=5"})
	if err != nil || !slices.Equal(got[14:], []string{"STENCIL_CONTEXT=99", "STENCIL_FLASH_ATTENTION=on", "STENCIL_CHECKPOINT_BYTES=1048576", "STENCIL_API_KEY=k", "STENCIL_NO_MODELS_AUTOLOAD=true", "STENCIL_CPU_MOE=true", "STENCIL_GPU_LAYERS=0"}) {
		t.Errorf("%v %v", got[min(14, len(got)):], err)
	}
	if got, err := llamaVariables([]string{"LLAMA_ARG_CACHE_TYPE_V=q8_0", "LLAMA_ARG_CACHE_TYPE_K=q8_0"}); err != nil || !slices.Equal(got[2:], []string{"STENCIL_CACHE_TYPE=q8_0"}) {
		t.Errorf("%v %v", got, err)
	}
	if _, err := llamaVariables([]string{"LLAMA_ARG_CACHE_TYPE_V=q8_0"}); err == nil {
		t.Error("two types")
	}
	if _, err := llamaVariables([]string{"LLAMA_ARG_MMPROJ=a.gguf"}); err == nil || !strings.Contains(err.Error(), "LLAMA_ARG_MMPROJ") {
		t.Errorf("%v", err)
	}
	if _, err := llamaVariables([]string{"LLAMA_ARG_TIMEOUT=x"}); err == nil {
		t.Error("no error")
	}
}
