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
	} {
		got, err := LlamaServer(strings.Fields(args))
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v %v", args, got, err)
		}
	}
	for args, want := range map[string]string{
		"serve --spec-type ngram":       "--draft",
		"serve -ot x":                   "--gpu-layers",
		"serve --rope-scale 0":          "how many times",
		"serve --mmproj x":              "images",
		"serve --no-jinja":              "--chat-template",
		"serve -c":                      "needs a value",
		"serve --timeout x":             "not a number of seconds",
		"serve --lora-scaled x":         "FILE:SCALE",
		"serve --reasoning-format none": "not offered",
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
	got, err := llamaVariables([]string{"LLAMA_ARG_CTX_SIZE=99", "LLAMA_ARG_PORT=1", "STENCIL_PORT=2", "LLAMA_ARG_FLASH_ATTN=1", "LLAMA_ARG_CACHE_RAM=1", "LLAMA_API_KEY=k", "A=b", "LLAMA_ARG_MODELS_AUTOLOAD=0"})
	if err != nil || !slices.Equal(got[8:], []string{"STENCIL_CONTEXT=99", "STENCIL_FLASH_ATTENTION=on", "STENCIL_API_KEY=k", "STENCIL_NO_MODELS_AUTOLOAD=true"}) {
		t.Errorf("%v %v", got, err)
	}
	if _, err := llamaVariables([]string{"LLAMA_ARG_TIMEOUT=x"}); err == nil {
		t.Error("no error")
	}
}
