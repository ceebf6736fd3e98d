// Command peers compares the masks of stencil with those of llguidance and XGrammar:
// the same schemas and the same tokens, in one run, alternating between the
// libraries after each block of schemas, so that other load on the machine affects
// all of them alike. scripts/peers installs the other libraries and runs it.
//
//	go run ./bench/peers -vocab GGUF -python PATH [-every N] CORPUS…
//
// It prints a table in Markdown. Times per token (mask and accept) are for tokens
// that all three accept, times to the first mask for schemas that all three compile.
// A schema passes if all of its valid documents are accepted and complete, and none
// of the invalid ones is.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/stencil-json/stencil/bench"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/vocab"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// patience is the maximum time that a peer may take for a schema.
const patience = 60 * time.Second

func run() error {
	vocabulary := flag.String("vocab", "", "GGUF file whose vocabulary to use")
	python := flag.String("python", "python3", "Python with what requirements.txt lists")
	script := flag.String("script", "bench/peers/peer.py", "peer.py")
	every := flag.Int("every", 1, "take every n-th schema")
	limit := flag.Int("limit", 0, "number of schemas after which to stop; 0: all")
	block := flag.Int("block", 20, "schemas that one library gets at a time")
	flag.Parse()
	v, err := vocab.Load(*vocabulary)
	if err != nil {
		return err
	}
	if _, err := bench.Prepare(v); err != nil {
		return err
	}
	contenders := []contender{
		&own{engine: bench.NewEngine(v, schema.Options{Order: schema.OrderAny, Whitespace: schema.Flexible(0), AnyNumberSpelling: true}), vocab: v},
		&peer{name: "llguidance", python: *python, script: *script, vocab: v},
		&peer{name: "xgrammar", python: *python, script: *script, vocab: v},
	}
	t := newTable(contenders)
	var cases []task
	measure := func() error {
		for turn := range contenders {
			// The order changes from block to block.
			i := (turn + t.blocks) % len(contenders)
			for k := range cases {
				m, err := contenders[i].measure(&cases[k])
				if err != nil {
					return err
				}
				cases[k].measured[i] = m
			}
		}
		for k := range cases {
			t.add(&cases[k])
		}
		t.blocks++
		cases = cases[:0]
		return nil
	}
	corpus := &bench.Corpus{Paths: flag.Args(), Every: *every, Limit: *limit}
	err = corpus.Each(func(c bench.Case) error {
		cases = append(cases, newTask(c, v, len(contenders)))
		if len(cases) == *block {
			return measure()
		}
		return nil
	})
	if err == nil {
		err = measure()
	}
	for _, c := range contenders {
		c.close()
	}
	if err != nil {
		return err
	}
	t.print(os.Stdout)
	return nil
}

// A task is a schema with the tokens of its documents.
type task struct {
	id       string
	Schema   string    `json:"schema"`
	Tokens   [][]int32 `json:"documents"`
	valid    []bool
	measured []*measurement
}

func newTask(c bench.Case, v *vocab.Vocab, contenders int) task {
	t := task{id: c.ID, Schema: string(c.Schema), measured: make([]*measurement, contenders)}
	for i := range c.Tests {
		if in := &c.Tests[i]; !in.Skip {
			t.Tokens = append(t.Tokens, v.TokenizeText(nil, in.Text))
			t.valid = append(t.valid, in.Valid)
		}
	}
	return t
}

// A measurement is the result of a task for one library.
type measurement struct {
	Error     string     `json:"error"` // if not empty, the other fields are not set
	First     float64    `json:"first_us"`
	Documents []measured `json:"documents"`
}

type measured struct {
	Times    []float64 `json:"us"` // of the accepted tokens
	Complete bool      `json:"complete"`
}

// A contender measures tasks.
type contender interface {
	String() string
	measure(*task) (*measurement, error)
	close()
}

// own is the contender stencil.
type own struct {
	engine bench.Engine
	vocab  *vocab.Vocab
}

func (o *own) String() string { return "stencil" }
func (o *own) close()         {}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func (o *own) measure(t *task) (*measurement, error) {
	start := time.Now()
	compiled, err := o.engine.Compile([]byte(t.Schema))
	if err != nil {
		return &measurement{Error: err.Error()}, nil
	}
	if _, err := compiled.NewMatcher().Mask(); err != nil {
		return &measurement{Error: err.Error()}, nil
	}
	m := &measurement{First: micros(time.Since(start))}
	for _, tokens := range t.Tokens {
		matcher := compiled.NewMatcher()
		var d measured
		for _, tok := range tokens {
			start := time.Now()
			mask, err := matcher.Mask()
			if err != nil || !mask.Has(tok) || matcher.Accept(tok) != nil {
				break
			}
			d.Times = append(d.Times, micros(time.Since(start)))
		}
		d.Complete = len(d.Times) == len(tokens) && matcher.Accepting()
		m.Documents = append(m.Documents, d)
	}
	return m, nil
}

// peer is a Python library that runs in a separate process.
type peer struct {
	name, python, script string
	vocab                *vocab.Vocab

	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan []byte
}

func (p *peer) String() string { return p.name }

// start starts the process and sends it the vocabulary.
func (p *peer) start() error {
	p.cmd = exec.Command(p.python, p.script, p.name)
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.in, p.lines = in, make(chan []byte)
	go func(lines chan<- []byte) {
		defer close(lines)
		s := bufio.NewScanner(out)
		s.Buffer(nil, 64<<20)
		for s.Scan() {
			lines <- append([]byte(nil), s.Bytes()...)
		}
	}(p.lines)
	var setup struct {
		Tokens  [][]byte `json:"tokens"`
		Special []int32  `json:"special"`
		EOS     int32    `json:"eos"`
	}
	for id := range int32(p.vocab.Len()) {
		text := p.vocab.Bytes(id)
		if len(text) == 0 {
			// A text that occurs in no document, as for control tokens.
			text = fmt.Appendf(nil, "<|special %d|>", id)
			setup.Special = append(setup.Special, id)
		}
		setup.Tokens = append(setup.Tokens, text)
		if p.vocab.IsEOG(id) && setup.EOS == 0 {
			setup.EOS = id
		}
	}
	var answer struct{}
	return p.ask(setup, &answer)
}

// ask sends a request as a line and reads the answer, a line too.
func (p *peer) ask(request, answer any) error {
	line, err := json.Marshal(request)
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return err
	}
	select {
	case line, ok := <-p.lines:
		if !ok {
			return fmt.Errorf("%s ended", p.name)
		}
		return json.Unmarshal(line, answer)
	case <-time.After(patience):
		return fmt.Errorf("%s took too long", p.name)
	}
}

func (p *peer) measure(t *task) (*measurement, error) {
	if p.cmd == nil {
		if err := p.start(); err != nil {
			p.close()
			return nil, err
		}
	}
	m := &measurement{}
	if err := p.ask(t, m); err != nil {
		p.close()
		return &measurement{Error: err.Error()}, nil
	}
	if m.Error == "" && len(m.Documents) != len(t.Tokens) {
		return nil, fmt.Errorf("%s: %s measured %d documents of %d", t.id, p.name, len(m.Documents), len(t.Tokens))
	}
	return m, nil
}

func (p *peer) close() {
	if p.cmd == nil {
		return
	}
	p.in.Close()
	p.cmd.Process.Kill()
	go func(lines <-chan []byte) {
		for range lines {
		}
	}(p.lines)
	p.cmd.Wait()
	p.cmd = nil
}
