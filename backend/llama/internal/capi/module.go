//go:build llama && cgo && llama_module

package capi

// #cgo linux LDFLAGS: -lstdc++ -lm -ldl -lpthread -lrt
import "C"

import (
	// For their object files: libllama and ggml.
	_ "github.com/ollama/ollama/llama/llama.cpp/src"
	_ "github.com/ollama/ollama/ml/backend/ggml/ggml/src"
)
