# `make` prints what can be made. Works with GNU Make 3.81, which macOS has.

.DEFAULT_GOAL := help
.PHONY: help run build test docs picture docstest models bench race fuzz lint clients llama-server-tests amx cuda vulkan dist vendor offline clean env need

GO       ?= go
HOST     := 127.0.0.1
PORT     := 8080
FUZZTIME ?= 20s

# Which llama.cpp: prebuilt (fetched through npm), source (compiled from the
# same sources, or older ones where npm or cmake is missing), system (what
# pkg-config finds). `go doc ./internal/llamacpp` has the details.
LLAMA ?= prebuilt
TOOL   = $(GO) run ./internal/llamacpp -llama $(LLAMA)
WITH   = $(TOOL) run

# Runs go test -json and reports what was skipped. Where CI=true, most reasons for
# skipping are failures.
SKIPS  = $(GO) run ./internal/skips

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
RELEASE  = -X main.release=$(VERSION)

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

need:
	@scripts/need go git c++ $(if $(filter prebuilt,$(LLAMA)),$(if $(wildcard .llama.cpp/*/sources.git),,npm))

run: build ## build everything and serve the bundled model on 127.0.0.1
	bin/stencil serve --host $(HOST) --port $(PORT)

build: need ## build bin/stencil (LLAMA=prebuilt, source or system)
	@$(WITH) $(GO) build -ldflags "$(RELEASE)" -o bin/stencil ./cmd/stencil

test: need ## run every test that needs no GPU
	@if [ "$$CI" = true ]; then $(GO) run ./internal/fetchmodels SmolLM2 Qwen; fi
	@$(WITH) true # fetches llama.cpp, whose chat templates are tested without it too
	$(GO) vet ./...
	$(SKIPS) $(GO) test -json -timeout 20m ./...
	@echo 'go test -tags llama ./...'
	@$(WITH) $(SKIPS) $(GO) test -json -timeout 20m ./...
	@$(MAKE) --no-print-directory amx

docs: need ## write the generated pages of docs/reference anew
	$(GO) test ./docs ./cmd/stencil -run TestReference -update

picture: ## draw docs/growing.svg anew, from a run of the server that make run started
	@mkdir -p build && scripts/growing http://$(HOST):$(PORT) >build/growing.svg && mv build/growing.svg docs/growing.svg

.PHONY: openapi-test
openapi-test: need ## send requests by openapi.json to the server, and generate clients from it (EXAMPLES for each operation)
	@OPENAPITEST=$(or $(EXAMPLES),20) $(WITH) $(GO) test -count=1 -timeout 30m -run TestOpenAPIServer ./docs

.PHONY: site
site: ## make a static site of the documentation in build/site, with a search that needs no network
	@cmp -s docs/site/package-lock.json docs/site/node_modules/.from || { cd docs/site && npm ci --no-audit --no-fund --ignore-scripts && cp package-lock.json node_modules/.from; }
	@node docs/site/build.mjs build/site
	@SITE=$(CURDIR)/build/site $(GO) test -count=1 -run TestSite ./docs

docstest: need ## run the pages and examples of Python frameworks and Claude Flow, with their packages (2.8 GB); PAGE=crewai: one
	@DOCSTEST=$(or $(PAGE),1) $(WITH) $(GO) test -count=1 -timeout 60m -run 'TestBlocks$$|TestPythonExamples$$|TestClaudeFlow$$' ./docs

models: ## fetch the real models that tests use, into a cache outside of the repository
	@$(GO) run ./internal/fetchmodels all

bench: need ## run the benchmarks, the comparison with a bare llama.cpp loop among them
	@$(WITH) $(GO) test -run '^$$' -bench . -timeout 60m ./...

race: need ## run the tests under the race detector, llama.cpp replaced by the scripted backend
	CGO_ENABLED=1 $(GO) test -race -timeout 30m ./...

fuzz: need ## run each fuzz target for FUZZTIME (20s)
	@GO="$(GO)" scripts/fuzz $(FUZZTIME)

.PHONY: settings
settings: build ## replay CORPUS under each order and whitespace of masks, with each of VOCABS
	@scripts/settings "$(CORPUS)" $(VOCABS)

.PHONY: peers
peers: need ## measure masks beside llguidance and XGrammar over CORPUS (VOCAB=llama3.gguf; EVERY=20: a twentieth)
	@scripts/peers "$(VOCAB)" "$(CORPUS)" $(EVERY)

.PHONY: drawn
drawn: need ## compare masks with documents drawn from the schemas of CORPUS (VOCAB=x.gguf; EVERY=10: a tenth; hours)
	@scripts/drawn "$(VOCAB)" "$(CORPUS)" $(EVERY)

lint: need ## gofmt, go vet with and without llama.cpp, staticcheck
	@bad=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$bad" ]; then echo "not formatted:"; echo "$$bad"; exit 1; fi
	$(GO) vet ./...
	@echo 'go vet -tags llama ./...'
	@$(WITH) $(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	@echo 'staticcheck -tags llama ./backend/...'
	@$(WITH) $(GO) run $(STATICCHECK) ./backend/...

clients: ## run the tests of other people's clients with the newest version of each
	@scripts/newestclients js agents

.PHONY: sdk-fields
sdk-fields: ## print the fields of the newest clients' requests that docs/reference/fields.md decides nothing on
	@scripts/sdkfields/run

.PHONY: loops
loops: ## run agents of ten Python frameworks against the server at URL with MODEL (2.6 GB of packages)
	@python3 bench/loops/loops.py "$(URL)" "$(MODEL)"

.PHONY: clients-python
clients-python: ## run frameworks for Python against the server (2.6 GB, minutes); NEWEST=1: the newest versions
	@$(if $(NEWEST),scripts/newestclients python,STENCIL_PYTHON_LIBRARIES=1 $(GO) test -count=1 -v -timeout 90m -run 'TestPythonLibraries$$' ./server/clients)

llama-server-tests: build ## run llama-server's own tests against stencil; SOURCE is llama.cpp's, FOLDER takes the results
	@scripts/llamaservertests "$(SOURCE)" "$(FOLDER)"

# The kernels for AMX are compiled only where the compiler may use it, so a
# machine without it checks them here: that they compile and link, no more.
amx:
	@scripts/amx "$(GO)"

# GPU back ends are shared libraries in lib/ beside bin/, which bin/stencil loads
# at its start.
cuda: build ## also put CUDA's back end into lib/ (NVIDIA)
	@if [ $(LLAMA) = source ]; then scripts/need cmake nvcc; fi
	@$(TOOL) gpu cuda lib

vulkan: build ## also put Vulkan's back end into lib/ (any GPU)
	@if [ $(LLAMA) = source ]; then scripts/need cmake glslc vulkan; fi
	@$(TOOL) gpu vulkan lib

dist: need ## make a .tar.gz that runs without anything else
	@LDFLAGS_GO="$(RELEASE)" $(TOOL) dist build/stencil-$(VERSION)-$$($(GO) env GOOS)-$$($(GO) env GOARCH).tar.gz

vendor: need ## put all that make build fetches into vendor/ and .llama.cpp/, for builds without a network
	$(GO) mod vendor
	@$(WITH) true

offline: ## try it: a build from make vendor's folders, with empty caches and no network
	@scripts/offline

env: ## print the build's environment, for: eval "$(make env)"
	@$(TOOL) env

clean: ## remove what was built (not what was fetched, nor the Go build cache)
	rm -rf bin lib build
