// Package jinja renders the Jinja templates in which language models say how a
// conversation is written down.
//
// It implements the language as those templates use it, under the settings
// that they are written for (trim_blocks and lstrip_blocks on, loop controls,
// no escaping), and with Python's rules: insertion-ordered dictionaries,
// None apart from undefined, str() and json.dumps() to the letter.
//
//	template = { text | "{{" expr "}}" | "{%" statement "%}" | "{#" … "#}" }
//
// Statements: if, for (with if, else and recursive), break, continue, set (of
// names, of attributes of a namespace, of blocks), macro, call, filter, with,
// raw, generation. Expressions: all operators, slices, conditional
// expressions, filters, tests, calls with keyword arguments. Functions: range,
// namespace, dict, joiner, cycler, raise_exception, strftime_now. The filters
// and tests are Jinja's own, those for HTML left out, and from_json; methods are
// those of Python's str and dict that change nothing, and append and pop of lists
// that the template wrote itself, which some use as queues.
//
// Left out is what reads other templates (include, import, extends, block) and
// what else changes values in place (dict.update): using it is an error, as it is
// in the sandbox that these templates run in elsewhere.
//
// Templates come from files that people download, so rendering is bounded:
// see [Limits]. A template can read the values it is given and the time,
// nothing else.
//
// # Why not a library
//
// Two were measured in November 2026 on the 81 conversations of
// ../testdata, whose texts are those of Python's Jinja, and on the limits:
//
//	                          this package  ardanlabs/jinja 1.11  nikolalohinski/gonja 2.9.1
//	conversations as Python's        81                    67                         37
//	limits: steps, bytes, depth     yes                    no                         no
//	limit of time                   yes                    no                         no
//	place of an error       line:column             line alone                line:column
//
// gonja renders phi3 and phi4 as Python does. It does not parse gemma and gptoss
// and sorts the keys of objects in tojson and leaves out the spaces
// that json.dumps writes (llama3, mistral, qwen25, qwen3: every conversation
// with tools); in a list None becomes the empty text, and 'é<' becomes
// "é\u003c". ardanlabs/jinja keeps the order of keys but for tojson(indent), so
// that all of llama3 with tools differs, and does not tell 1.0 from 1 (gptoss,
// mistral, qwen25 and qwen3: conversations with calls); hermes gets a wrong
// signature of a tool; 1/0 is 0, 10 ** 20 is a float, and 1e100 is a syntax
// error. It also asks for a newer Go than this module.
//
// A model that is given a prompt unlike the one it was trained on calls tools
// less well, and a template that never ends holds a server up: two nested loops
// over 3,000 numbers take 14 s in the one, 76 s in the other by the rate of a
// tenth of them, on a busy machine, and nothing stops them.
package jinja
