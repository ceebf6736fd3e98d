package files

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/stencil-json/stencil/agent"
)

// Options limit the work and the result of one call. A zero field means its default.
type Options struct {
	Hidden      bool          // include names that begin with a dot
	ResultBytes int           // text of a result, without the remarks at its end; default 16 KiB, about 4,000 tokens; at least 256
	Results     int           // names or lines in a result; default 200
	LineBytes   int           // of a line in the result of grep_files; default 300; at least 32
	Entries     int           // names that a search may visit; default 200,000
	ReadBytes   int64         // bytes read from files; default 64 MiB
	Depth       int           // levels of nested folders that a search enters; default 64
	Time        time.Duration // default 10 s
}

func (o Options) withDefaults() Options {
	set := func(p *int, n int) {
		if *p <= 0 {
			*p = n
		}
	}
	set(&o.ResultBytes, 16<<10)
	set(&o.Results, 200)
	set(&o.LineBytes, 300)
	set(&o.Entries, 200_000)
	set(&o.Depth, 64)
	o.ResultBytes, o.LineBytes = max(o.ResultBytes, 256), max(o.LineBytes, 32)
	if o.ReadBytes <= 0 {
		o.ReadBytes = 64 << 20
	}
	if o.Time <= 0 {
		o.Time = 10 * time.Second
	}
	return o
}

// A Box holds the tools for one folder. It is an [agent.Toolbox] and is safe for
// concurrent use.
type Box struct {
	root  *os.Root
	opt   Options
	tools []tool
}

var _ agent.Toolbox = (*Box)(nil)

// Open returns the tools for a folder, which may itself be a link. The folder stays
// open until Close, even if it is moved.
func Open(dir string, o Options) (*Box, error) {
	// Opening something other than a folder could block.
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("files: %s: not a folder", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	b := &Box{root: root, opt: o.withDefaults()}
	b.tools = b.makeTools()
	return b, nil
}

// Close closes the folder. Later calls fail.
func (b *Box) Close() error {
	if err := b.root.Close(); err != nil {
		return fmt.Errorf("files: %w", err)
	}
	return nil
}

// Tools returns the tools, always in the same order.
func (b *Box) Tools() []agent.Tool {
	var out []agent.Tool
	for _, t := range b.tools {
		out = append(out, agent.Tool{Name: t.name, Description: t.description, Parameters: t.schema()})
	}
	return out
}

// Call runs a tool. It returns soon after ctx ends or the time limit of a call is
// reached.
func (b *Box) Call(ctx context.Context, name string, arguments json.RawMessage) string {
	i := slices.IndexFunc(b.tools, func(t tool) bool { return t.name == name })
	if i < 0 {
		var names []string
		for _, t := range b.tools {
			names = append(names, t.name)
		}
		return failed(fmt.Errorf("there is no tool %s; the tools are %s", quote(name), strings.Join(names, ", ")))
	}
	t := b.tools[i]
	args, err := t.read(arguments)
	if err != nil {
		return failed(err)
	}
	ctx, cancel := context.WithTimeout(ctx, b.opt.Time)
	defer cancel()
	text, err := t.run(&work{Box: b, ctx: ctx, entries: b.opt.Entries, bytes: b.opt.ReadBytes}, args)
	if err != nil {
		return failed(err)
	}
	return text
}

func failed(err error) string { return "error: " + err.Error() }

// work is the remaining budget of one call, and the reasons why its result is
// incomplete.
type work struct {
	*Box
	ctx     context.Context
	entries int   // names left to visit
	bytes   int64 // left to read from files

	stop       string // why the search ended early; "" if it didn't
	hidden     bool   // hidden names were omitted
	deep       bool   // folders that are too deep were omitted
	unreadable int    // files and folders that could not be read
}

// goOn reports whether the search may continue: it has not been stopped and time is
// left.
func (w *work) goOn() bool {
	if w.stop == "" && w.ctx.Err() != nil {
		w.stop = "time is up"
	}
	return w.stop == ""
}

// remarks adds remarks on what a search omitted.
func (w *work) remarks(r *result) {
	if w.stop != "" {
		r.remark("not everything was looked at: %s; narrow the search to a folder or to fewer files", w.stop)
	}
	if w.deep {
		r.remark("folders more than %d levels down were left out; start the pattern with such a folder's path to look into it", w.opt.Depth)
	}
	if w.unreadable > 0 {
		r.remark("files or folders that can't be read were left out: %d", w.unreadable)
	}
	if w.hidden {
		r.remark("hidden names, which begin with a dot, are left out")
	}
}
