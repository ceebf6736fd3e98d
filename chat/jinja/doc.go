// Package jinja renders the Jinja templates that define how a language model's
// conversations are formatted.
//
// It implements the language as those templates use it, with the settings that they assume
// (trim_blocks and lstrip_blocks on, loop controls, no escaping), and with Python's
// semantics: insertion-ordered dictionaries, None distinct from undefined, and the exact
// output of str() and json.dumps().
//
//	template = { text | "{{" expr "}}" | "{%" statement "%}" | "{#" … "#}" }
//
// Statements: if, for (with if, else and recursive), break, continue, set (of names, of
// attributes of a namespace, of blocks), macro, call, filter, with, raw, generation.
// Expressions: all operators, slices, conditional expressions, filters, tests, calls with
// keyword arguments. Functions: range, namespace, dict, joiner, cycler, raise_exception,
// strftime_now. The filters and tests are Jinja's own, except those for HTML, and
// from_json; methods are those of Python's str and dict that don't mutate, and append and
// pop of lists that the template created itself, which some use as queues.
//
// Reading other templates (include, import, extends, block) and other mutations of values
// (dict.update) are not supported: using them is an error, as in the sandbox in which
// these templates run elsewhere.
//
// Templates come from files that users download, so rendering is bounded: see [Limits]. A
// template can read the values that it is given and the time, nothing else.
//
// # Why not a library
//
// Two libraries were measured in November 2026 on the 81 conversations of ../testdata,
// whose expected texts are from Python's Jinja, and on the limits:
//
//	                          this package  ardanlabs/jinja 1.11  nikolalohinski/gonja 2.9.1
//	conversations as Python's        81                    67                         37
//	limits: steps, bytes, depth     yes                    no                         no
//	limit of time                   yes                    no                         no
//	place of an error       line:column             line alone                line:column
//
// gonja renders phi3 and phi4 as Python does. It does not parse gemma and gptoss; in
// tojson it sorts the keys of objects and omits the spaces that json.dumps writes (llama3,
// mistral, qwen25, qwen3: every conversation with tools); in a list None becomes the empty
// text, and 'é<' becomes "é\u003c". ardanlabs/jinja keeps the order of keys except in
// tojson(indent), so that all of llama3 with tools differs, and does not distinguish 1.0
// from 1 (gptoss, mistral, qwen25 and qwen3: conversations with calls); hermes gets a
// wrong signature of a tool; 1/0 is 0, 10 ** 20 is a float, and 1e100 is a syntax error.
// It also requires a newer Go than this module.
//
// A model calls tools less reliably if its prompt differs from those it was trained on,
// and a template that never ends blocks a server: two nested loops over 3,000 numbers take
// 14 s in the one and 76 s in the other, extrapolated from a tenth of them, on a busy
// machine, and nothing stops them.
package jinja
