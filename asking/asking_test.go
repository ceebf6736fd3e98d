package asking

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend/remote"
	"github.com/stencil-json/stencil/schema"
)

// TestTranslate checks that each cause has its category, and that internal
// details leave the package only in TechnicalDetails.
func TestTranslate(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	now = func() time.Time { return at }
	defer func() { now = time.Now }()
	seen := map[Category]bool{}
	for _, c := range []struct {
		err         error
		want        Category
		recoverable bool
	}{
		{&remote.Error{Kind: remote.Limited, RetryAfter: time.Second}, RateLimited, true},
		{&remote.Error{Kind: remote.Unavailable}, Unavailable, true},
		{&remote.Error{Kind: remote.Unreachable}, Unavailable, true},
		{&remote.Error{Kind: remote.Cut}, Unavailable, false},
		{&remote.Error{Kind: remote.TimedOut}, TookTooLong, true},
		{&remote.Error{Kind: remote.Denied}, NotAuthorized, false},
		{&remote.Error{Kind: remote.Refused}, RequestRefused, false},
		{&remote.Error{Kind: remote.Malformed}, Protocol, false},
		{context.Canceled, Cancelled, true},
		{context.DeadlineExceeded, TookTooLong, true},
		{errors.New("disk on fire"), Protocol, false},
		{&Failure{Stage: StageEmpty, Cause: errors.New("x")}, EmptyAnswer, true},
		{&Failure{Stage: StageEmpty, Cause: errRefusal}, RefusedAnswer, false},
		{&Failure{Stage: StageParse, Cause: errors.New("x")}, InvalidJSON, true},
		{&Failure{Stage: StageValidation, Cause: errors.New("x"), Content: "text", Model: "m", Parser: Native}, WrongDocument, true},
	} {
		var log bytes.Buffer
		r := Translate(t.Context(), slog.New(slog.NewJSONHandler(&log, nil)), c.err, Instructed, "far")
		seen[r.Category] = true
		if r.Category != c.want || r.Recoverable != c.recoverable || r.OccurredAt != at || r.Tries < 1 || r.TechnicalDetails == "" {
			t.Errorf("%v: %+v", c.err, r)
		}
		if errors.Unwrap(r) != nil || strings.Contains(r.Error(), "remote:") || strings.Contains(r.Error(), "fire") {
			t.Errorf("%v shows through: %v", c.err, r)
		}
		for _, key := range []string{"parser", "model", "stage", "content", "cause", "category", "description", "technical_details", "occurred_at", "recoverable"} {
			if !strings.Contains(log.String(), `"`+key+`":`) {
				t.Errorf("%v: no %s in the log %s", c.err, key, log.String())
			}
		}
		if again := Translate(t.Context(), slog.New(slog.DiscardHandler), r, Native, "x"); again != r {
			t.Error("translated twice")
		}
	}
	for _, c := range Categories {
		if !seen[c] {
			t.Errorf("%s is never given", c)
		}
	}
}

// TestAsk checks the tries of one task.
func TestAsk(t *testing.T) {
	var tries []Try
	var told []string
	answers := []string{`{"a": 2 * 3}`, `{"a": 7}`, `{"a": 5}`}
	task := Task{
		Model: "m", Strategy: Instructed, Format: &Format{JSON: true, Schema: []byte(`{"type": "object"}`)}, Strict: true, Repair: true, Retries: 2,
		Check: func(document []byte) ([]schema.Issue, error) {
			if strings.Contains(string(document), "5") {
				return nil, nil
			}
			return []schema.Issue{{Pointer: "/a", Keyword: "const", Reason: "must be 5"}}, nil
		},
		Write: func(_ context.Context, turns []Turn, number int) (*Written, error) {
			if number > 0 {
				told = append(told, turns[len(turns)-1].Content)
			}
			return &Written{Text: answers[number], Usage: remote.Usage{Prompt: 10, Completion: 1, Cost: 0.5}}, nil
		},
		Log: slog.New(slog.DiscardHandler), Observe: func(try Try) { tries = append(tries, try) },
	}
	a, err := Ask(t.Context(), task)
	if err != nil || a.Text != `{"a": 5}` || a.Tries != 3 || a.Usage != (remote.Usage{Prompt: 30, Completion: 3, Cost: 1.5}) || *a.Valid != true {
		t.Fatalf("%+v %v", a, err)
	}
	if len(tries) != 3 || tries[0].Failed != StageParse || tries[1].Failed != StageValidation || tries[2].Failed != "" || !tries[2].Last || tries[1].Last {
		t.Errorf("%+v", tries)
	}
	if !strings.Contains(told[0], "Line 1") || !strings.Contains(told[0], "2 * 3") || !strings.Contains(told[1], `at "/a": const: must be 5`) {
		t.Errorf("%q", told)
	}
	task.Retries = 1
	_, err = Ask(t.Context(), task)
	var reason *FailureReason
	if !errors.As(err, &reason) || reason.Category != WrongDocument || reason.Tries != 2 || reason.Text != answers[1] || len(reason.Issues) != 1 {
		t.Errorf("%+v", err)
	}
	// The budget cut the answer off: it is not completed for the model.
	task.Retries, task.Write = 0, func(context.Context, []Turn, int) (*Written, error) {
		return &Written{Text: `{"a": "5"`, Cut: true}, nil
	}
	if _, err = Ask(t.Context(), task); !errors.As(err, &reason) || reason.Category != InvalidJSON || !strings.Contains(reason.TechnicalDetails, "max_tokens") {
		t.Errorf("%+v", err)
	}
	task.Strict = false
	if a, err = Ask(t.Context(), task); err != nil || a.JSON || *a.Valid || a.Text != `{"a": "5"` || len(a.Warnings) != 1 {
		t.Errorf("%+v %v", a, err)
	}
}
