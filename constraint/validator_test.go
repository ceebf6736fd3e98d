package constraint

import (
	"errors"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/schema"
)

func TestValidator(t *testing.T) {
	tests := []struct {
		schema, draft, document string
		want                    []schema.Issue // by pointer and keyword; nil: fits
	}{
		{`{"type":"integer"}`, "2020-12", `5`, nil},
		{`{"type":"integer"}`, "2020-12", `"5"`, []schema.Issue{{Keyword: "type"}}},
		{`{"type":"integer"}`, "2020-12", `5 5`, []schema.Issue{{}}},
		{`{"properties":{"a/b":{"items":{"maximum":3}}}}`, "2020-12", `{"a/b":[1,7,2,9]}`,
			[]schema.Issue{{Pointer: "/a~1b/1", Keyword: "maximum"}, {Pointer: "/a~1b/3", Keyword: "maximum"}}},
		{`{"format":"date"}`, "draft-07", `"2026-02-30"`, []schema.Issue{{Keyword: "format"}}},
		{`{"format":"semver"}`, "draft-07", `"?"`, nil},
		{`{"pattern":"^\\p{Letter}(?=x)"}`, "2020-12", `"éx"`, nil},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","maximum":3,"exclusiveMaximum":true}`, "draft-04", `3`, []schema.Issue{{Keyword: "exclusiveMaximum"}}},
	}
	for _, test := range tests {
		v, err := NewValidator(t.Context(), []byte(test.schema), test.draft)
		if err != nil {
			t.Errorf("%s: %v", test.schema, err)
			continue
		}
		err = v.Validate(t.Context(), []byte(test.document))
		var invalid *InvalidDocumentError
		if errors.As(err, &invalid) != (test.want != nil) || invalid == nil && err != nil {
			t.Errorf("%s against %s: %v", test.document, test.schema, err)
			continue
		}
		if invalid == nil {
			continue
		}
		if len(invalid.Issues) != len(test.want) {
			t.Errorf("%s against %s: %v", test.document, test.schema, err)
			continue
		}
		for i, issue := range invalid.Issues {
			if issue.Pointer != test.want[i].Pointer || !strings.Contains(issue.Keyword, test.want[i].Keyword) || issue.Reason == "" {
				t.Errorf("%s against %s: issue %d is %+v", test.document, test.schema, i, issue)
			}
		}
	}
}

func TestValidatorRefuses(t *testing.T) {
	for _, test := range []struct{ schema, draft string }{
		{`{"$ref":"https://example.com/other.json"}`, "2020-12"},
		{`{"type":"integer"}`, "draft-03"},
		{`{"type":`, "draft-07"},
		{`{"pattern":"("}`, "draft-07"},
	} {
		if _, err := NewValidator(t.Context(), []byte(test.schema), test.draft); err == nil {
			t.Errorf("%s as draft %s was accepted", test.schema, test.draft)
		}
	}
}

func TestValidatorGivesUpOnPatterns(t *testing.T) {
	v, err := NewValidator(t.Context(), []byte(`{"pattern":"^(?=a)(\\w+\\s?)+$"}`), "2020-12")
	if err != nil {
		t.Fatal(err)
	}
	err = v.Validate(t.Context(), []byte(`"`+strings.Repeat("a", 60)+`!"`)) // some 2^60 possible matches
	if !errors.Is(err, ErrUndecided) {
		t.Errorf("%v", err)
	}
}

// The validator knows every draft by the name that package schema uses.
func TestValidatorKnowsEveryDraft(t *testing.T) {
	c := NewSchemas(testVocab(t), 10)
	for _, uri := range []string{
		"http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#", "http://json-schema.org/draft-07/schema#",
		"https://json-schema.org/draft/2019-09/schema", "https://json-schema.org/draft/2020-12/schema",
	} {
		s, err := c.Compile(t.Context(), []byte(`{"$schema": "`+uri+`", "type": "integer"}`), schema.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(t.Context(), []byte("5")); err != nil {
			t.Errorf("%s, read as %s: %v", uri, s.Report.Draft, err)
		}
		if err := s.Validate(t.Context(), []byte("true")); !errors.As(err, new(*InvalidDocumentError)) {
			t.Errorf("%s, read as %s: true is accepted: %v", uri, s.Report.Draft, err)
		}
	}
}
