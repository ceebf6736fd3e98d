package meter

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// work counts n steps and returns the error with which the meter ended it.
func work(m *Meter, ctx context.Context, n int, each func()) (err error) {
	defer Catch(&err)
	m.Start(ctx)
	for range n {
		each()
		m.Step(1)
	}
	return nil
}

func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New(Limits{Time: time.Second}, nil)
		var limit *LimitError
		if err := work(m, nil, 100_000, func() { time.Sleep(time.Millisecond) }); !errors.As(err, &limit) || limit.Time != time.Second {
			t.Errorf("%v", err)
		}
		if err := work(m, nil, 900, func() { time.Sleep(time.Millisecond) }); err != nil {
			t.Errorf("the next piece of work is not given its time: %v", err)
		}
	})
}

func TestBytes(t *testing.T) {
	held := 0
	m := New(Limits{Bytes: 5000}, func() int { return held })
	var limit *LimitError
	if err := work(m, nil, 100_000, func() { held++ }); !errors.As(err, &limit) || limit.Bytes != 5000 || held > 5000+interval+1 {
		t.Errorf("%v with %d bytes", err, held)
	}
}

func TestContext(t *testing.T) {
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	m, n := New(Limits{}, nil), 0
	err := work(m, ctx, 1_000_000, func() {
		if n++; n == 10_000 {
			cancel(gone)
		}
	})
	if !errors.Is(err, gone) || n > 10_000+interval+1 {
		t.Errorf("%v after %d steps", err, n)
	}
}

func TestOtherPanics(t *testing.T) {
	defer func() {
		if recover() != "other" {
			t.Error("the panic was lost")
		}
	}()
	_ = work(New(Limits{}, nil), nil, 1, func() { panic("other") })
}

// A nil meter has no limits.
func TestNil(t *testing.T) {
	var m *Meter
	m.Step(1 << 40)
	m.Look()
}
