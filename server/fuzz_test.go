package server

import (
	"bytes"
	"encoding/json"
	"testing"
)

// fuzzDialect feeds a dialect's decoder. Whatever comes in, it answers with a
// query that can be run or with an error that says something.
func fuzzDialect(f *testing.F, path string, read func(*object) (*query, error)) {
	for _, body := range malformedBodies[path] {
		if len(body) < 1000 {
			f.Add([]byte(malformedBody(path, body)))
		}
	}
	for _, body := range []string{
		`{"model":"tiny","max_tokens":9,"messages":[{"role":"user","content":"x"}],"input":"x","prompt":"x"}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"a","content":"y"}]}`,
		`{"inputs":"x","parameters":{"grammar":{"type":"json","value":{}}}}`, `{"text":"x","sampling_params":{"json_schema":"{}"}}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := parseObject(body, "")
		if err == nil {
			var q *query
			if q, err = read(o); err == nil {
				checkQuery(t, q)
				return
			}
		}
		if err.Error() == "" {
			t.Error("an error without a message")
		}
		if d := describe(err); d.status < 400 || d.status >= 500 || d.code == "" {
			t.Errorf("%v: %+v", err, d)
		}
	})
}

func checkQuery(t *testing.T, q *query) {
	if q.N < 1 || q.N > maxChoices || q.MaxTokens < 0 || len(q.Stop) > maxStops || q.TopLogprobs < 0 || q.TopLogprobs > maxTopLogprobs || q.Timeout < 0 {
		t.Errorf("%+v", q)
	}
	if c := q.Constraint; (c.Kind == "") != (c.Schema == nil && c.Text == "" && c.Choices == nil && c.Param == "") {
		t.Errorf("constraint %+v", c)
	}
	for _, m := range q.Messages {
		if m.Role == "" {
			t.Errorf("message %+v", m)
		}
	}
	if q.Tools != nil {
		for _, tool := range q.Tools.callable() {
			if checkName("", tool.Name) != nil || len(tool.Parameters) == 0 {
				t.Errorf("tool %+v", tool)
			}
		}
	}
}

func FuzzReadChat(f *testing.F) {
	fuzzDialect(f, "/v1/chat/completions", func(o *object) (*query, error) {
		q, err := readChat(o)
		if err != nil {
			return nil, err
		}
		return q.query, nil
	})
}

func FuzzReadCompletion(f *testing.F) {
	fuzzDialect(f, "/v1/completions", func(o *object) (*query, error) {
		q, err := readCompletion(o)
		if err != nil {
			return nil, err
		}
		return &q.prompts[0], nil
	})
}

func FuzzReadResponses(f *testing.F) {
	fuzzDialect(f, "/v1/responses", func(o *object) (*query, error) {
		q, err := readResponses(o)
		if err != nil {
			return nil, err
		}
		return q.query, nil
	})
}

func FuzzReadMessages(f *testing.F) {
	fuzzDialect(f, "/v1/messages", func(o *object) (*query, error) { return readMessages(o, false) })
}

func FuzzReadOllamaChat(f *testing.F)     { fuzzDialect(f, "/api/chat", readOllamaChat) }
func FuzzReadOllamaGenerate(f *testing.F) { fuzzDialect(f, "/api/generate", readOllamaGenerate) }

func FuzzReadTGI(f *testing.F)    { fuzzDialect(f, "/generate", foreignQuery(readTGI)) }
func FuzzReadSGLang(f *testing.F) { fuzzDialect(f, "/generate", foreignQuery(readSGLang)) }

func foreignQuery(read func(*object) (*foreignRequest, error)) func(*object) (*query, error) {
	return func(o *object) (*query, error) {
		q, err := read(o)
		if err != nil {
			return nil, err
		}
		return q.query, nil
	}
}

// FuzzScanner checks the places of values against a decoder.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{`{"a":[1,true,"x\"y"],"b":{"":null}}`, `5`, `"x"`, "[ ]", `{"a/b~":{}}`, "{\n \"a\": -1e5\n}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !validObject(text) {
			return
		}
		var s scanner
		var last field
		emit := func(fd field) {
			last = fd
			if value := text[fd.start:fd.end]; !validObject(value) {
				t.Errorf("%q: %s is %q", text, fd.pointer, value)
			}
		}
		for _, c := range text {
			s.next(c, emit)
		}
		s.finish(emit)
		if string(text[last.start:last.end]) != string(bytes.TrimSpace(text)) || last.pointer != "" {
			t.Errorf("%q: the last value is %q at %q", text, text[last.start:last.end], last.pointer)
		}
	})
}

// validObject reports whether text is one JSON value with every name once.
func validObject(text []byte) bool {
	if !json.Valid(text) {
		return false
	}
	if trimmed := bytes.TrimSpace(text); trimmed[0] == '{' {
		_, err := parseObject(trimmed, "")
		return err == nil
	}
	return true
}
