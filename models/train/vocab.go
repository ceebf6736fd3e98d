package main

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/models/lessons"
)

// controls are the control tokens, which follow the bytes and the learnt
// tokens. The first ends an answer.
var controls = []string{
	"<|end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>", "<|schema|>", "<|object|>",
	"<|string|>", "<|integer|>", "<|number|>", "<|boolean|>", "<|null|>",
}

// template is the chat template. It shortens the server's instruction for a
// schema: the sentence and the most common parts of schemas become one token
// each, which halves a prompt.
const template = `{%- for message in messages -%}
{%- set ns = namespace(text=message['content']) -%}
{%- if message['role'] == 'system' -%}
{%- set ns.text = ns.text | replace('Answer with JSON that fits this JSON Schema, and nothing else:\n', '<|schema|>') | replace('{"type":"object","properties":', '<|object|>') | replace(',"additionalProperties":false', '') -%}
{%- set parts = ns.text.split(',"required":[') -%}
{%- set ns.text = parts[0] -%}
{%- for part in parts[1:] -%}{%- set ns.text = ns.text + part[part.find(']')+1:] -%}{%- endfor -%}
{%- for type in ['string', 'integer', 'number', 'boolean'] -%}
{%- set ns.text = ns.text | replace('{"type":"' + type + '"}', '<|' + type + '|>') | replace('{"type":["' + type + '","null"]}', '<|' + type + '|><|null|>') -%}
{%- endfor -%}
{%- endif -%}
{{- '<|' + message['role'] + '|>' + ns.text -}}
{%- if message['role'] == 'assistant' -%}<|end|>{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}<|assistant|>{%- endif -%}`

// spaced returns the words that also have a token with a preceding space: those
// in sentences that never start a value. Any other word has the same tokens
// within a text and after a quote, so that copying it means copying its tokens.
func spaced() []string {
	values := map[string]bool{}
	for _, w := range lessons.Values() {
		values[w] = true
	}
	counts := map[string]int{}
	for _, s := range lessons.Sentences() {
		for i, w := range strings.Fields(s) {
			if i > 0 && strings.IndexFunc(w, func(r rune) bool { return r < 'a' || r > 'z' }) < 0 && !values[w] {
				counts[w]++
			}
		}
	}
	out := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(out, func(a, b string) int { return counts[b] - counts[a] })
	return out
}

// numbers returns merges that make a token of every two and three digits.
// Longer runs rarely share parts with other numbers of a text, so that copying
// a number means copying tokens that occur once. Those that start with a zero
// come last: 2025 becomes 20 and 25.
func numbers() (merges [][2]string) {
	early := func(n, zeros int) int { return (n + zeros) % (10 * zeros) }
	for n := range 100 {
		n = early(n, 10)
		merges = append(merges, [2]string{strconv.Itoa(n / 10), strconv.Itoa(n % 10)})
	}
	for n := range 1000 {
		n = early(n, 100)
		s := fmt.Sprintf("%03d", n)
		// The pair that is merged first.
		if (n/10+90)%100 <= (n%100+90)%100 {
			merges = append(merges, [2]string{s[:2], s[2:]})
		} else {
			merges = append(merges, [2]string{s[:1], s[1:]})
		}
	}
	return merges
}

// splitRuns splits a text into runs of letters and of JSON's punctuation.
func splitRuns(text string) []string {
	class := func(r rune) int {
		switch {
		case unicode.IsLetter(r):
			return 1
		case strings.ContainsRune(`{}[]":,`, r):
			return 2
		}
		return 0
	}
	var out []string
	start, last := 0, 0
	for i, r := range text {
		if c := class(r); c != last {
			if last != 0 {
				out = append(out, text[start:i])
			}
			start, last = i, c
		}
	}
	if last != 0 {
		out = append(out, text[start:])
	}
	return out
}

// propertyName matches the name of a property in a schema.
var propertyName = regexp.MustCompile(`"[a-z_-]+":`)

// learn writes a vocabulary of the given size, as a GGUF file without tensors.
func learn(path string, size int) error {
	counts := map[string]int{}
	count := func(text string, n int) {
		for _, w := range splitRuns(text) {
			counts[w] += n
		}
	}
	for _, s := range lessons.Learn() {
		count(strings.ReplaceAll(strings.NewReplacer("{", " ", "}", " ").Replace(s), "_", " "), 20)
		for _, part := range strings.Split(s, "_") { // property names in other styles
			count(strings.ToUpper(part[:1])+part[1:], 10)
		}
	}
	everyday, names := lessons.Words()
	for _, w := range everyday {
		count(w, 12)
		count(strings.ToUpper(w[:1])+w[1:], 2)
	}
	for _, w := range names {
		count(w, 2)
	}
	g := lessons.New(0, lessons.Unseen{})
	for range 4000 {
		l := g.Next()
		// Only the punctuation, which must not lose against the many words.
		for _, s := range []string{short(l.Schema), l.Answer} {
			for _, w := range splitRuns(s) {
				if strings.ContainsAny(w[:1], `{}[]":,`) {
					counts[w] += 10
				}
			}
		}
		if l.Task == "copies" { // its names are made up
			continue
		}
		for _, name := range propertyName.FindAllString(l.Schema, -1) {
			for _, w := range splitRuns(name) {
				if w == strings.ToLower(w) && !strings.ContainsAny(w[:1], `":`) {
					counts[w]++
				}
			}
		}
	}
	with := spaced()
	digits := numbers()
	room := size - 256 - len(controls) - len(digits)
	if room < 0 {
		return fmt.Errorf("a vocabulary has at least %d tokens", size-room)
	}
	merges := models.LearnMerges(counts, room-len(with), 3)
	have := map[string]bool{"a": true}
	for _, m := range merges {
		have[m[0]+m[1]] = true
	}
	for _, w := range with {
		if have[w] && len(merges) < room {
			merges = append(merges, [2]string{"Ġ", w})
		}
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	var out models.Writer
	out.String("general.architecture", "llama")
	out.AddVocab(append(merges, digits...), controls, template)
	if err := out.Write(f, nil); err != nil {
		return err
	}
	return f.Close()
}

// short shortens a schema like the template.
func short(schema string) string {
	s := strings.ReplaceAll(schema, `{"type":"object","properties":`, " ")
	s = strings.ReplaceAll(s, `,"additionalProperties":false`, "")
	for _, t := range []string{"string", "integer", "number", "boolean"} {
		s = strings.ReplaceAll(s, `{"type":"`+t+`"}`, " ")
		s = strings.ReplaceAll(s, `{"type":["`+t+`","null"]}`, " ")
	}
	return s
}
