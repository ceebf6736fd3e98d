// Command servers compares stencil with llama-server and node-llama-cpp: the same
// model, threads and prompts, in one run, one request at a time, alternating between
// the contenders, so that other load on the machine affects all of them alike.
//
//	go run ./bench/servers -llama-server PATH [-node FOLDER] MODEL.gguf…
//
// It starts the servers itself and prints a table in Markdown: the speed of prompt
// processing and generation (client's clock, over HTTP; node-llama-cpp in a loop of
// its own), the time of documents under a schema, and the throughput of concurrent
// requests. Figures are medians over rounds; ratios are medians of the ratios to the
// fastest other contender in each round.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
)

// settings select what is measured.
type settings struct {
	stencil, llama, node string
	threads, prompts     []int
	generate, rounds     int
	documents, together  bool
	context              int
}

func main() {
	var s settings
	var threads, prompts string
	flag.StringVar(&s.stencil, "stencil", "bin/stencil", "program of stencil")
	flag.StringVar(&s.llama, "llama-server", "", "program of llama-server; without it only stencil is measured")
	flag.StringVar(&s.node, "node", "", "folder in which `npm install node-llama-cpp` was run")
	flag.StringVar(&threads, "threads", "1,2", "numbers of threads")
	flag.StringVar(&prompts, "prompts", "128,512,2048", "lengths of prompts, about, in tokens")
	flag.IntVar(&s.generate, "generate", 64, "tokens to generate")
	flag.IntVar(&s.rounds, "rounds", 5, "measured rounds; one more goes before them")
	flag.BoolVar(&s.documents, "documents", false, "measure documents under schemas too, for models that follow instructions")
	flag.BoolVar(&s.together, "together", false, "measure four requests at once too")
	flag.IntVar(&s.context, "context", 4096, "context of all servers, in tokens")
	flag.Parse()
	var err error
	if s.threads, err = numbers(threads); err == nil {
		s.prompts, err = numbers(prompts)
	}
	if err == nil && flag.NArg() == 0 {
		err = fmt.Errorf("no model was named")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err == nil {
		err = measure(ctx, s, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
		os.Exit(1)
	}
}

func numbers(list string) ([]int, error) {
	var out []int
	for field := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a list of positive numbers", list)
		}
		out = append(out, n)
	}
	return out, nil
}

// measure prints a row for each model, number of threads and prompt length.
func measure(ctx context.Context, s settings, models []string) error {
	fmt.Println("| model | threads | what | stencil | llama-server | node-llama-cpp | stencil / fastest other |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- |")
	for _, model := range models {
		for _, threads := range s.threads {
			if err := measureModel(ctx, s, model, threads); err != nil {
				return fmt.Errorf("%s, %d threads: %w", filepath.Base(model), threads, err)
			}
		}
	}
	return nil
}

func measureModel(ctx context.Context, s settings, model string, threads int) error {
	var all []contender
	defer func() {
		for _, c := range all {
			c.close()
		}
	}()
	start := func(c contender, err error) error {
		if err == nil {
			all = append(all, c)
		}
		return err
	}
	if err := start(startStencil(ctx, s, model, threads)); err != nil {
		return err
	}
	if s.llama != "" {
		if err := start(startLlama(ctx, s, model, threads)); err != nil {
			return err
		}
	}
	if s.node != "" {
		if err := start(startNode(ctx, s, model, threads)); err != nil {
			return err
		}
	}
	row := func(what, unit string, faster bool, got [][]float64) {
		fmt.Printf("| %s | %d | %s | %s |\n", strings.TrimSuffix(filepath.Base(model), ".gguf"), threads, what, cells(all, unit, faster, got))
	}
	for _, length := range s.prompts {
		read, write := make([][]float64, len(all)), make([][]float64, len(all))
		for round := range s.rounds + 1 {
			for i, c := range inTurn(all, round) {
				m, err := c.run(ctx, words(length, round, i), s.generate)
				if err != nil {
					return fmt.Errorf("%s: %w", c.name(), err)
				}
				if round > 0 {
					read[i] = append(read[i], m.read())
					write[i] = append(write[i], m.write())
				}
			}
		}
		row(fmt.Sprintf("read %d tokens", length), "tok/s", true, read)
		row(fmt.Sprintf("generate after %d", length), "tok/s", true, write)
	}
	if s.documents {
		got, err := documents(ctx, s, all)
		if err != nil {
			return err
		}
		row("a document under a schema", "s", false, got)
	}
	if s.together {
		got, err := together(ctx, s, all)
		if err != nil {
			return err
		}
		row("four at once", "tok/s", true, got)
	}
	return nil
}
