package outcomes

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/stencil-json/stencil/internal/boltfile/damage"
)

// childVariable makes the test binary write to the file that it names until it is killed.
const childVariable = "STENCIL_OUTCOMES_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childVariable); path != "" {
		child(path, os.Getenv(childVariable+"_PREFIX"))
	}
	os.Exit(m.Run())
}

func open1(t testing.TB, path string, o Options) *Store {
	t.Helper()
	s, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func add(t testing.TB, s *Store, id string, own float64) {
	t.Helper()
	if err := s.Add(Assessment{ID: id, Model: "m", Composite: 0.5, Own: &own, Time: time.Now()}); err != nil {
		t.Fatal(err)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "feedback.db")
	s := open1(t, path, Options{})
	for i := range 10 {
		add(t, s, fmt.Sprint("a", i), 0.8)
		if _, _, err := s.Report(fmt.Sprint("a", i), i < 6); err != nil {
			t.Fatal(err)
		}
	}
	add(t, s, "open", 0.3)
	if _, err := s.Record("other", 0.25, true); err != nil {
		t.Fatal(err)
	}
	before, err := s.Calibration("m")
	if err != nil || before.Count != 10 || !near(before.Error, 0.2) || !near(before.Accuracy, 0.6) || !near(before.Confidence, 0.8) {
		t.Fatalf("%+v %v", before, err)
	}
	if want := (6*0.04 + 4*0.64) / 10; !near(before.Brier, want) {
		t.Errorf("Brier score %g, want %g", before.Brier, want)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open1(t, path, Options{})
	if after, err := s.Calibration("m"); err != nil || after != before {
		t.Errorf("after a restart %+v %v, before %+v", after, err, before)
	}
	if names, err := s.Models(); err != nil || strings.Join(names, " ") != "m other" {
		t.Errorf("models %v %v", names, err)
	}
	if model, c, err := s.Report("open", true); err != nil || model != "m" || c.Count != 11 {
		t.Errorf("an assessment of before: %s %+v %v", model, c, err)
	}
}

// TestReportedAgain checks that an assessment counts once, with its last outcome.
func TestReportedAgain(t *testing.T) {
	s := open1(t, filepath.Join(t.TempDir(), "f"), Options{})
	add(t, s, "a", 0.9)
	for i, success := range []bool{true, true, false, false, true} {
		_, c, err := s.Report("a", success)
		want := map[bool]float64{true: 1, false: 0}[success]
		if err != nil || c.Count != 1 || c.Accuracy != want || !near(c.Error, math.Abs(0.9-want)) || !near(c.Brier, (0.9-want)*(0.9-want)) {
			t.Errorf("report %d: %+v %v", i, c, err)
		}
		if got, err := s.Outcome("a"); err != nil || got == nil || *got != success {
			t.Errorf("report %d: outcome %v %v", i, got, err)
		}
	}
	if _, _, err := s.Report("b", true); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown id: %v", err)
	}
	if _, err := s.Outcome("b"); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown id: %v", err)
	}
}

// TestComposite checks that the composite is calibrated if the model gave no confidence.
func TestComposite(t *testing.T) {
	s := open1(t, filepath.Join(t.TempDir(), "f"), Options{})
	if err := s.Add(Assessment{ID: "a", Model: "m", Composite: 0.35}); err != nil {
		t.Fatal(err)
	}
	if _, c, err := s.Report("a", false); err != nil || !near(c.Error, 0.35) || c.Bins[3].Count != 1 {
		t.Errorf("%+v %v", c, err)
	}
}

func TestRefused(t *testing.T) {
	s := open1(t, filepath.Join(t.TempDir(), "f"), Options{})
	add(t, s, "a", 0.5)
	for name, err := range map[string]error{
		"twice":     s.Add(Assessment{ID: "a", Model: "m"}),
		"no id":     s.Add(Assessment{Model: "m"}),
		"no model":  s.Add(Assessment{ID: "b"}),
		"no number": s.Add(Assessment{ID: "b", Model: "m", Composite: math.NaN()}),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "outcomes: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		if _, err := s.Record("m", c, true); err == nil {
			t.Errorf("a confidence of %g was counted", c)
		}
	}
	if _, err := s.Record("", 0.5, true); err == nil {
		t.Error("an outcome without a model was counted")
	}
	if c, err := s.Calibration("m"); err != nil || c != (Calibration{}) {
		t.Errorf("%+v %v", c, err)
	}
}

func TestBound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	s := open1(t, path, Options{Keep: 10})
	for i := range 30 {
		add(t, s, fmt.Sprint("a", i), 0.5)
		if _, _, err := s.Report(fmt.Sprint("a", i), true); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 30 {
		_, err := s.Outcome(fmt.Sprint("a", i))
		if kept := i >= 20; kept != (err == nil) {
			t.Errorf("assessment %d: %v", i, err)
		}
	}
	if c, err := s.Calibration("m"); err != nil || c.Count != 30 {
		t.Errorf("what was dropped counts on: %+v %v", c, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open1(t, path, Options{Keep: 3})
	add(t, s, "new", 0.5)
	for _, id := range []string{"a27", "a20"} {
		if _, err := s.Outcome(id); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s is kept beyond a smaller bound: %v", id, err)
		}
	}
	if _, err := s.Outcome("a28"); err != nil {
		t.Error(err)
	}
}

// TestCalibration compares the calibration with the textbook formula, for random outcomes.
func TestCalibration(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var totals Totals
	type drawn struct {
		confidence float64
		success    bool
	}
	var all []drawn
	for range 500 {
		d := drawn{math.Round(r.Float64()*1e4) / 1e4, r.IntN(2) == 0}
		all = append(all, d)
		totals.add(d.confidence, d.success, 1)
	}
	ece, brier := 0.0, 0.0
	for b := range 10 {
		n, sum, hits := 0.0, 0.0, 0.0
		for _, d := range all {
			if bin := int(math.Floor(d.confidence*10 + 1e-9)); min(bin, 9) != b {
				continue
			}
			n++
			sum += d.confidence
			if d.success {
				hits++
			}
		}
		if n > 0 {
			ece += n / 500 * math.Abs(hits/n-sum/n)
		}
	}
	for _, d := range all {
		y := map[bool]float64{true: 1}[d.success]
		brier += (d.confidence - y) * (d.confidence - y) / 500
	}
	c := totals.Calibration()
	if c.Count != 500 || math.Abs(c.Error-ece) > 1e-9 || math.Abs(c.Brier-brier) > 1e-6 {
		t.Errorf("%+v, want an error of %g and a Brier score of %g", c, ece, brier)
	}
	for _, d := range all {
		totals.add(d.confidence, d.success, -1)
	}
	if totals != (Totals{}) {
		t.Errorf("what was taken back has left %+v", totals)
	}
	for confidence, bin := range map[float64]int{0: 0, 0.0999: 0, 0.1: 1, 0.3: 3, 0.7: 7, 0.89999: 8, 0.9: 9, 1: 9} {
		var one Totals
		one.add(confidence, true, 1)
		if one.Bins[bin].Count != 1 {
			t.Errorf("%g is not in bin %d: %+v", confidence, bin, one)
		}
	}
	// Perfectly calibrated: 7 of 10 successes at a confidence of 0.7.
	var good Totals
	for i := range 10 {
		good.add(0.7, i < 7, 1)
	}
	if c := good.Calibration(); !near(c.Error, 0) {
		t.Errorf("%+v", c)
	}
}

func TestConcurrent(t *testing.T) {
	s := open1(t, filepath.Join(t.TempDir(), "f"), Options{})
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := range 25 {
				id := fmt.Sprint(w, "-", i)
				own := 0.5
				if err := s.Add(Assessment{ID: id, Model: "m", Own: &own}); err != nil {
					t.Error(err)
				}
				for range 2 {
					if _, _, err := s.Report(id, i%2 == 0); err != nil {
						t.Error(err)
					}
				}
				if _, err := s.Calibration("m"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if c, err := s.Calibration("m"); err != nil || c.Count != 200 || !near(c.Accuracy, 13.0/25) {
		t.Errorf("%+v %v", c, err)
	}
}

func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	first := open1(t, path, Options{})
	_, err := Open(path, Options{})
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open1(t, path, Options{})
}

// TestDamaged checks that damage is reported and never ends the process.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	s := open1(t, good, Options{})
	for i := range 300 {
		if err := s.Add(Assessment{ID: fmt.Sprint("assessment-", i), Model: "m"}); err != nil {
			t.Fatal(err)
		}
		if i == 50 && testing.Short() {
			break
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	zeroed := bytes.Clone(whole)
	clear(zeroed[2*page:])
	noise := bytes.Clone(whole)
	r := rand.New(rand.NewPCG(5, 6))
	for i := 2 * page; i+8 <= len(noise); i += 8 {
		binary.LittleEndian.PutUint64(noise[i:], r.Uint64())
	}
	for name, content := range map[string][]byte{
		"text": []byte("this is no database\n"), "one byte": {1}, "noise": noise, "zeroes": zeroed, "noise from the beginning": noise[2*page:],
		"half": whole[:len(whole)/2/page*page], "two pages": whole[:2*page], "a byte less": whole[:2*page+1],
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, Options{})
		if err == nil {
			s.Close()
		}
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A database with other content.
	other := filepath.Join(dir, "other")
	db, err := bbolt.Open(other, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket([]byte("else"))
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(other, Options{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("another database: %v", err)
	}
	if _, err := Open(dir, Options{}); err == nil {
		t.Error("a folder was opened")
	}
	open1(t, good, Options{})
}

// TestMutants checks that a file with any kind of damage is either refused and left unchanged, or works in all operations
// of a server. Nothing may end the process, not even in goroutines of bbolt. (Values of records may be wrong: they have
// no checksum.)
func TestMutants(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	s := open1(t, path, Options{Keep: 90})
	for i := range 60 {
		add(t, s, fmt.Sprint("assessment-", i), 0.8)
	}
	if _, err := s.Record("m", 0.5, true); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused, opened := 0, 0
	for seed := range uint64(300) {
		mutant := damage.Make(rand.New(rand.NewPCG(seed, 1)), whole, os.Getpagesize())
		if err := os.WriteFile(path, mutant, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, Options{Keep: 90})
		if err != nil {
			refused++
			if now, readErr := os.ReadFile(path); readErr != nil || !bytes.Equal(now, mutant) || !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
				t.Errorf("seed %d: %v %v", seed, err, readErr)
			}
			continue
		}
		opened++
		s.db.NoSync = true
		s.db.MaxBatchDelay = 0
		for i := range 40 {
			add(t, s, fmt.Sprint("new-", i), 0.5)
		}
		// Damaged records may give errors.
		for i := range 60 {
			_, _, _ = s.Report(fmt.Sprint("assessment-", i), true)
		}
		_, _ = s.Calibration("m")
		if _, err := s.Models(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	t.Logf("%d refused, %d opened", refused, opened)
	if refused < 50 || opened < 50 {
		t.Errorf("%d refused, %d opened: the damage is no test", refused, opened)
	}
}

// child writes assessments and outcomes, and prints which were acknowledged, until it is killed.
func child(path, prefix string) {
	s, err := Open(path, Options{})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	var out sync.Mutex
	say := func(words ...any) {
		out.Lock()
		defer out.Unlock()
		fmt.Println(words...)
	}
	say("ready")
	for w := range 4 {
		go func() {
			for i := 0; ; i++ {
				id := fmt.Sprint(prefix, "-", w, "-", i)
				own := 0.5
				if err := s.Add(Assessment{ID: id, Model: "m", Own: &own}); err != nil {
					say("error", err)
				}
				say("added", id)
				for _, success := range []bool{i%2 == 1, i%2 == 0} {
					if _, _, err := s.Report(id, success); err != nil {
						say("error", err)
					}
					say("reported", id, success)
				}
			}
		}()
	}
	select {}
}

// TestKilled checks that a process that is killed during writes has lost nothing that it acknowledged, and that
// everything it wrote counts once.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	rounds := 8
	if testing.Short() {
		rounds = 2
	}
	acknowledged := map[string]bool{} // id → last acknowledged outcome
	added := map[string]bool{}
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	for round := range rounds {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), childVariable+"="+path, fmt.Sprint(childVariable, "_PREFIX=r", round))
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(stdout)
		if !lines.Scan() || lines.Text() != "ready" {
			t.Fatalf("round %d: the child said %q", round, lines.Text())
		}
		time.AfterFunc(time.Duration(20+r.IntN(300))*time.Millisecond, func() { cmd.Process.Kill() })
		for lines.Scan() {
			words := strings.Fields(lines.Text())
			switch {
			case len(words) == 2 && words[0] == "added":
				added[words[1]] = true
			case len(words) == 3 && words[0] == "reported" && words[2] != "":
				acknowledged[words[1]] = words[2] == "true"
			case len(words) > 0 && words[0] == "error":
				t.Errorf("round %d: %s", round, lines.Text())
			}
		}
		cmd.Wait() // killed

		s, err := Open(path, Options{})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		for id := range added {
			if _, err := s.Outcome(id); err != nil {
				t.Fatalf("round %d: the assessment %s is lost: %v", round, id, err)
			}
		}
		for id := range acknowledged {
			if success, err := s.Outcome(id); err != nil || success == nil {
				t.Fatalf("round %d: the outcome of %s is lost: %v %v", round, id, success, err)
			}
		}
		counted, hits := 0, 0
		err = s.db.View(func(tx *bbolt.Tx) error {
			return tx.Bucket(assessments).ForEach(func(id, _ []byte) error {
				success, err := s.Outcome(string(id))
				if success != nil {
					counted++
					if *success {
						hits++
					}
				}
				return err
			})
		})
		c, calibrationErr := s.Calibration("m")
		if err != nil || calibrationErr != nil || c.Count != counted || !near(c.Accuracy*float64(max(1, counted)), float64(hits)) {
			t.Fatalf("round %d: %d outcomes with %d successes, the totals say %+v %v %v", round, counted, hits, c, err, calibrationErr)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(acknowledged) < rounds {
		t.Errorf("only %d outcomes were acknowledged in %d rounds", len(acknowledged), rounds)
	}
	t.Logf("%d assessments, %d with outcomes, %d times killed", len(added), len(acknowledged), rounds)
}
