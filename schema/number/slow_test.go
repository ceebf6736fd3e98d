package number
import ("testing";"time";"math/rand/v2";"os";"strconv")
func TestSlow(t *testing.T){
 n,_:=strconv.Atoi(os.Getenv("N"))
 for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := randomSpec(r)
		sp := Spelling(r.IntN(2))
		single := s.Min != nil && s.Max != nil && s.Min.Cmp(*s.Max) == 0
		if s.HasIn || single {
			sp = AnySpelling
		}
		t0:=time.Now(); done:=make(chan bool); go func(){ select{case <-done: case <-time.After(5*time.Second): println(seed, describe(s,sp))}}()
		check(t, s, sp, alphabets[r.IntN(len(alphabets))], 4)
		close(done); if d:=time.Since(t0); d>300*time.Millisecond { t.Logf("seed %d %v %s",seed,d,describe(s,sp)) }
	}
}
