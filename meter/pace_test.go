package meter

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A third rests for twice as long as it has worked.
type third struct {
	worked, rested, owed time.Duration
	at                   time.Time
}

func (p *third) Rest(worked time.Duration) time.Duration {
	now := time.Now()
	if worked == 0 { // it rested since it was asked before
		p.owed -= now.Sub(p.at)
	}
	p.worked, p.owed, p.at = p.worked+worked, p.owed+2*worked, now
	return p.owed
}

func (p *third) Rested(took time.Duration) { p.rested += took }

// step is some work between two looks at the clock.
const step = 100 * time.Microsecond

// each calls f once for every look of the meter.
func each(f func()) func() {
	n := 0
	return func() {
		if n++; n%(interval+1) == 0 {
			f()
		}
	}
}

// TestPace checks that work rests as its pace says, and that rests don't count as work.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, pace := time.Now(), new(third)
		m := New(Limits{Time: 100 * step}, nil)
		if err := work(m, WithPace(t.Context(), pace), 90*(interval+1), each(func() { time.Sleep(step) })); err != nil {
			t.Fatal(err)
		}
		took := time.Since(begun)
		if took < 240*step || took > 290*step || pace.rested != took-90*step {
			t.Errorf("90 steps took %v with rests of %v", took/step, pace.rested/step)
		}
		if err := work(m, WithPace(t.Context(), pace), 110*(interval+1), each(func() { time.Sleep(step) })); err == nil {
			t.Error("the limit of time has no effect")
		}
	})
}

// TestPaceLocked checks that work doesn't rest while it holds a lock that others need, or somebody waits for it.
func TestPaceLocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pace, wanted, begun := new(third), true, time.Now()
		ctx := Unless(WithPace(t.Context(), pace), func() bool { return wanted })
		m, tick := New(Limits{}, nil), each(func() { time.Sleep(step) })
		m.Start(ctx)
		for range 90 * (interval + 1) {
			tick()
			m.Step(1)
		}
		if took := time.Since(begun); took != 90*step || pace.worked < 80*step {
			t.Errorf("wanted work took %v, and the pace knows of %v", took, pace.worked)
		}
		wanted, begun = false, time.Now()
		for range 90 * (interval + 1) {
			tick()
			m.StepLocked(1)
		}
		if took := time.Since(begun); took != 90*step {
			t.Errorf("work with a lock took %v", took)
		}
		if m.Look(); pace.rested < 300*step {
			t.Errorf("it rested for %v afterwards", pace.rested)
		}
	})
}

// TestRestEnds checks that a rest ends with its context, and that work without a pace has none.
func TestRestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		begun := time.Now()
		if took := Rest(WithPace(ctx, new(third)), time.Hour); took != 50*time.Millisecond || time.Since(begun) != took {
			t.Errorf("the rest took %v", took)
		}
		var none context.Context // a Meter's may be nil
		if Rest(t.Context(), time.Hour) != 0 || Rest(none, time.Hour) != 0 {
			t.Error("a rest without a pace")
		}
	})
}
