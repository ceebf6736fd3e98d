package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"stencil/decoder"
	"stencil/regular"
	"stencil/vocab"
)

// A Schema is a compiled JSON Schema. It is immutable and safe for
// concurrent use.
type Schema struct {
	doc    *document
	opt    Options
	report Report

	mu    sync.Mutex
	first *source // analysed while compiling; the first grammar takes it over
}

// Compile reads a JSON Schema and checks that it can be enforced. The error
// is a [*SyntaxError], [*InvalidError], [*UnsupportedError],
// [*UnsatisfiableError] or [*LimitError].
func Compile(src []byte, opt Options) (*Schema, error) {
	opt.Limits = opt.Limits.withDefaults()
	if len(src) > opt.Limits.Bytes {
		return nil, &LimitError{Limit: "bytes", Max: opt.Limits.Bytes}
	}
	doc, err := parseDocument(string(src), opt)
	if err != nil {
		return nil, err
	}
	lang := sharedLanguages()
	c, err := analyse(doc, opt, lang)
	var limit *regular.LimitError
	if errors.As(err, &limit) {
		// The shared store may have been nearly full.
		c, err = analyse(doc, opt, freshLanguages())
	}
	return c, err
}

func analyse(doc *document, opt Options, lang *languages) (*Schema, error) {
	doc.checkTexts(lang)
	doc.checkSizes()
	if len(doc.invalid) > 0 {
		return nil, &InvalidError{doc.invalid}
	}
	c := &Schema{doc: doc, opt: opt}
	c.report = Report{Hash: hash(doc.src), Draft: doc.draft.String(), Enforced: doc.enforced, Warnings: doc.warnings}
	if len(doc.unsupported) > 0 {
		switch opt.OnUnsupported {
		case UnsupportedIsError:
			return nil, &UnsupportedError{doc.unsupported}
		case UnsupportedIsChecked:
			c.report.Checked = doc.unsupported
		default:
			c.report.Ignored = doc.unsupported
		}
	}
	s := newSource(doc, opt, lang)
	root := s.rootGoal()
	ok := s.isProductive(root)
	if s.err != nil {
		return nil, s.err
	}
	if !ok {
		return nil, &UnsatisfiableError{s.contradictions(root)}
	}
	c.first = s
	return c, nil
}

// hash returns the digest of the document without whitespace between its
// tokens.
func hash(src string) string {
	out := make([]byte, 0, len(src))
	inString := false
	from := 0
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && vocab.IsBlank(c):
			out = append(out, src[from:i]...)
			from = i + 1
		}
	}
	sum := sha256.Sum256(append(out, src[from:]...))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// checkTexts reads all patterns and formats, so that everything that can't
// be enforced is known at once.
func (d *document) checkTexts(lang *languages) {
	check := func(n *node, keyword, text string, v *value) {
		e, err := lang.pattern(text)
		switch {
		case err != nil:
			d.patternError(n, keyword, v, err)
		case lang.store.Least(e) > mostLeastLength:
			d.cannot(n, keyword, v, fmt.Sprintf("strings of more than %d characters can't be made sure of", mostLeastLength), "")
		}
	}
	for _, n := range d.nodes {
		if k := n.str; k != nil {
			if k.hasPattern {
				check(n, "pattern", k.pattern, n.val.get("pattern"))
			}
			if k.format != "" {
				d.checkFormat(n, k.format, lang)
			}
		}
		if n.obj != nil {
			for _, p := range n.obj.patterns {
				check(n, "patternProperties", p.name, n.val.get("patternProperties"))
			}
		}
	}
}

// Report returns what the schema asks for and how much of it is enforced.
func (c *Schema) Report() Report { return c.report }

// Grammar returns the schema as a constraint over a vocabulary. Matchers of
// one grammar share what has been learnt; a grammar is worth keeping.
func (c *Schema) Grammar(v *vocab.Vocab) *decoder.Grammar {
	c.mu.Lock()
	s := c.first
	c.first = nil
	c.mu.Unlock()
	if s == nil {
		s = newSource(c.doc, c.opt, sharedLanguages())
	}
	return decoder.New(s, v, decoder.Limits{})
}

// contradictions names the smallest parts of the schema that already exclude
// each other.
func (s *source) contradictions(root goal) []Issue {
	n := s.doc.root
	var list []Issue
	seen := map[*node]bool{}
	var look func(n *node)
	look = func(n *node) {
		if seen[n] || len(list) > 16 {
			return
		}
		seen[n] = true
		if n.boolean < 0 {
			list = append(list, s.doc.issue(Issue{Pointer: n.pointer(), Reason: "the schema false fits no value"}, n.val))
			return
		}
		if s.isProductive(s.sub(n, 0)) {
			return
		}
		before := len(list)
		for _, sub := range n.mandatory() {
			look(sub)
		}
		if len(list) == before {
			for _, pointer := range s.conflict(n) {
				list = append(list, s.doc.issue(Issue{Pointer: n.pointer() + "/" + pointer, Keyword: pointer, Reason: "contradicts the others listed"}, n.val.get(pointer)))
			}
		}
	}
	look(n)
	if len(list) == 0 {
		list = append(list, s.doc.issue(Issue{Pointer: "", Reason: "no value fits"}, n.val))
	}
	_ = root
	return list
}

// mandatory returns the schemas that a value of n can't avoid.
func (n *node) mandatory() []*node {
	var list []*node
	if a := n.apply; a != nil {
		list = append(list, a.allOf...)
		list = append(list, a.anyOf...)
		list = append(list, a.oneOf...)
		if a.ref != nil && a.ref.target != nil {
			list = append(list, a.ref.target)
		}
	}
	if n.obj != nil {
		for _, p := range n.obj.properties {
			for _, r := range n.obj.required {
				if r == p.name {
					list = append(list, p.node)
				}
			}
		}
	}
	if n.arr != nil && n.arr.min > 0 {
		list = append(list, n.arr.prefix...)
		if n.arr.items != nil {
			list = append(list, n.arr.items)
		}
	}
	return list
}

// conflict returns a smallest set of n's keywords that together fit no
// value.
func (s *source) conflict(n *node) []string {
	if n.val.kind != kindObject {
		return nil
	}
	keep := make([]bool, len(n.val.members))
	for i := range keep {
		keep[i] = true
	}
	satisfiable := func() bool {
		v := &value{kind: kindObject, pos: n.val.pos}
		for i, m := range n.val.members {
			if keep[i] {
				v.members = append(v.members, m)
			}
		}
		sub := s.doc.node(v, n.parent, n.segment, n.resource)
		s.doc.resolveAll()
		return s.isProductive(s.sub(sub, 0))
	}
	if satisfiable() {
		return nil
	}
	var out []string
	for i := range keep {
		keep[i] = false
		if satisfiable() {
			keep[i] = true
			out = append(out, n.val.members[i].key)
		}
	}
	return out
}
