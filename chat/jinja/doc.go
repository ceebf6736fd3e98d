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
// and tests are Jinja's own, those for HTML left out; methods are those of
// Python's str and dict that change nothing.
//
// Left out is what reads other templates (include, import, extends, block) and
// what changes values in place (list.append): using it is an error, as it is
// in the sandbox that these templates run in elsewhere.
//
// Templates come from files that people download, so rendering is bounded:
// see [Limits]. A template can read the values it is given and the time,
// nothing else.
package jinja
