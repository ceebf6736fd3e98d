# `make` prints what can be made. Works with GNU Make 3.81, which macOS has.

.DEFAULT_GOAL := help
.PHONY: help run build test bench race fuzz lint cuda metal vulkan portable clean env need

GO       ?= go
HOST     := 127.0.0.1
PORT     := 8080
FUZZTIME ?= 20s

# Everything that needs llama.cpp is built with these, and only these, flags:
# any other set compiles all of llama.cpp again (minutes). `make env` prints
# them for a shell; backend/llama/doc.go explains them.
OLLAMA_MODULE := github.com/ollama/ollama
OLLAMA         = $(eval OLLAMA := $$(shell $(GO) mod download $(OLLAMA_MODULE) && $(GO) list -m -f '{{.Dir}}' $(OLLAMA_MODULE)))$(OLLAMA)
OLLAMA_FOUND   = $(or $(OLLAMA),$(error cannot fetch $(OLLAMA_MODULE), which carries llama.cpp: is the network there?))
NATIVE        := $(if $(filter arm64 aarch64,$(shell uname -m)),-mcpu=native,-march=native)
CPPFLAGS_LLAMA = -I$(OLLAMA_FOUND)/llama/llama.cpp/include -I$(OLLAMA)/ml/backend/ggml/ggml/include
CFLAGS_LLAMA  ?= -O3 $(NATIVE) -w
CGO            = CGO_ENABLED=1 CGO_CPPFLAGS="$(CPPFLAGS_LLAMA)" CGO_CFLAGS="$(CFLAGS_LLAMA)" CGO_CXXFLAGS="$(CFLAGS_LLAMA)"
LLAMA          = -tags llama

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

need:
	@scripts/need go git c++

run: build ## build everything and serve the bundled model on 127.0.0.1
	bin/stencil serve --host $(HOST) --port $(PORT)

build: need ## build bin/stencil with llama.cpp for this machine's CPU
	@echo "building bin/stencil (the first time compiles llama.cpp: a few minutes)"
	@$(CGO) $(GO) build $(LLAMA) -o bin/stencil ./cmd/stencil

test: need ## run every test that needs no GPU
	$(GO) vet ./...
	$(GO) test -timeout 20m ./...
	@echo 'go test -tags llama ./...   (the first time compiles llama.cpp: a few minutes)'
	@$(CGO) $(GO) test $(LLAMA) -timeout 20m ./...
	@scripts/nodetests

bench: need ## run the benchmarks, the comparison with a bare llama.cpp loop among them
	@$(CGO) $(GO) test $(LLAMA) -run '^$$' -bench . -timeout 60m ./...

race: need ## run the tests under the race detector, llama.cpp replaced by the scripted backend
	CGO_ENABLED=1 $(GO) test -race -timeout 30m ./...

fuzz: need ## run each fuzz target for FUZZTIME (20s)
	@GO="$(GO)" scripts/fuzz $(FUZZTIME)

lint: need ## gofmt, go vet with and without llama.cpp, staticcheck
	@bad=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$bad" ]; then echo "not formatted:"; echo "$$bad"; exit 1; fi
	$(GO) vet ./...
	@echo 'go vet -tags llama ./...'
	@$(CGO) $(GO) vet $(LLAMA) ./...
	$(GO) run $(STATICCHECK) ./...
	@echo 'staticcheck -tags llama ./backend/...'
	@$(CGO) $(GO) run $(STATICCHECK) $(LLAMA) ./backend/...

# The GPU back ends are shared libraries in lib/ beside bin/, which bin/stencil
# loads at its start. They are built from the sources of the same module.
CMAKE = cmake -S . -B build/$@ -G Ninja -DCMAKE_BUILD_TYPE=Release -DOLLAMA="$(OLLAMA_FOUND)"

cuda: build ## also build lib/ with CUDA (NVIDIA; needs the CUDA toolkit)
	@scripts/need cmake ninja nvcc
	$(CMAKE) -DSTENCIL_CUDA=ON $(CMAKE_FLAGS)
	cmake --build build/$@

vulkan: build ## also build lib/ with Vulkan (any GPU)
	@scripts/need cmake ninja glslc vulkan
	$(CMAKE) -DSTENCIL_VULKAN=ON $(CMAKE_FLAGS)
	cmake --build build/$@

metal: build ## also build lib/ with Metal (Intel Macs; on Apple silicon it is built in)
	@scripts/need cmake ninja
	$(CMAKE) -DSTENCIL_METAL=ON $(CMAKE_FLAGS)
	cmake --build build/$@

portable: CFLAGS_LLAMA = -O3 -w
portable: build ## build bin/stencil and lib/ to run on any CPU of this family
	@scripts/need cmake ninja
	$(CMAKE) -DSTENCIL_CPU_VARIANTS=ON $(CMAKE_FLAGS)
	cmake --build build/$@

env: ## print the build's environment, for: eval "$(make env)"
	@echo 'export CGO_ENABLED=1'
	@echo 'export CGO_CPPFLAGS="$(CPPFLAGS_LLAMA)"'
	@echo 'export CGO_CFLAGS="$(CFLAGS_LLAMA)"'
	@echo 'export CGO_CXXFLAGS="$(CFLAGS_LLAMA)"'

clean: ## remove what was built (not the Go build cache)
	rm -rf bin lib build
