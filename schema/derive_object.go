package schema

import (
	"math/bits"
	"strings"

	"github.com/stencil-json/stencil/schema/logic"
	"github.com/stencil-json/stencil/schema/syntax"
)

// enter returns the possible transitions over a member whose key is of the given
// class and has not been read yet: those of the derivative whose goal has values and
// whose state can be completed.
func (ob *objects) enter(state, name int32, matching uint64) []move {
	key := moveKey{state, int64(name)}
	if name < 0 {
		key.class = -1 - int64(matching)
		if i := ob.freeMoves[state]; i != 0 && matching == 0 {
			return ob.moves[i-1]
		}
	}
	h := logic.Mix(uint64(state), uint64(key.class), 0)
	if i, _ := ob.moveKeys.Find(&key, h); i >= 0 {
		return ob.moves[i]
	}
	x := ob.states.Keys[state]
	uni, st := ob.keys.universes[x.uni], ob.statics[x.static]
	var out []move
	base := ob.memberGoal(st, name, matching)
	if base != logic.Never && ob.inOrder(&x, name) {
		if name >= 0 {
			matching = ob.keys.nameBits(uni, name)
		}
		ways := []term{{logic.Always, x.dyn}}
		untouched := ob.untouched(&x, name)
		if !untouched {
			ways = ob.derive.byMember(x.dyn, uni, name, matching)
		}
		for _, p := range ways {
			g := ob.goals.And(base, p.g)
			if !ob.sat.satisfiable(g) {
				continue
			}
			y := x
			if name >= 0 {
				ob.use(&y, name)
			} else if ob.opt.Order == OrderSchema {
				y.last = int32(len(uni.names))
			}
			y.dyn = p.f
			if p.f != x.dyn {
				plain, dyn := ob.split(p.f)
				y.dyn = dyn
				if ob.passedOver(&y, plain) {
					continue
				}
				if len(plain) > 0 {
					all := ob.forms.And(append(plain, st.f)...)
					if all == logic.No {
						continue
					}
					y.static = ob.static(x.uni, all)
				}
			}
			if untouched || ob.sound(&y) {
				out = append(out, move{g, ob.intern(y)})
			}
		}
	}
	// Look up only now: the calls above may have added keys.
	i, at := ob.moveKeys.Find(&key, h)
	if i < 0 {
		i = ob.moveKeys.Add(&key, h, at)
		ob.moves = append(ob.moves, out)
	}
	ob.moves[i] = out
	if key.class == -1 {
		ob.freeMoves[state] = i + 1
	}
	return out
}

// passedOver reports whether one of the demands is for a name that can't come any
// more in a fixed order.
func (ob *objects) passedOver(x *objState, demands []logic.Form) bool {
	if ob.opt.Order == OrderAny {
		return false
	}
	uni := ob.keys.universes[x.uni]
	for _, f := range demands {
		l := ob.forms.Info[f].Lit
		if name, _ := ob.sets.list[l.A].single(); l.Kind == logic.SomeKey && uni.at(name) <= x.last {
			return true
		}
	}
	return false
}

// inOrder reports whether the order permits a name now: in a fixed order no required
// name may be skipped.
func (ob *objects) inOrder(x *objState, name int32) bool {
	from, to := ob.window(x)
	if name < 0 {
		return to == int32(len(ob.keys.universes[x.uni].names))
	}
	return from <= name && name <= to
}

// window returns the first and the last name that the order permits now; the last is
// the number of names if none is required.
func (ob *objects) window(x *objState) (from, to int32) {
	n := int32(len(ob.keys.universes[x.uni].names))
	if ob.opt.Order == OrderAny {
		return 0, n
	}
	return x.last + 1, min(logic.Next(ob.statics[x.static].required, x.last+1), n)
}

// relevance describes which members can change a formula.
type relevance struct {
	names  []uint64
	free   bool
	counts bool // the formula is a conjunction of bounds on the number of members
	other  bool // the formula contains such a bound among others
	most   int
}

// relevant returns which members can change dyn.
func (ob *objects) relevant(in int32, dyn logic.Form) *relevance {
	key := [2]int32{in, int32(dyn)}
	if r, ok := ob.relevance[key]; ok {
		return r
	}
	uni := ob.keys.universes[in]
	r := &relevance{names: make([]uint64, uni.words), counts: true, most: syntax.MaxCount}
	seen := map[logic.Form]bool{}
	var visit func(f logic.Form)
	visit = func(f logic.Form) {
		if seen[f] {
			return
		}
		seen[f] = true
		info := &ob.forms.Info[f]
		for _, k := range info.Kids {
			visit(k)
		}
		if info.Op != logic.OpLit {
			return
		}
		switch l := info.Lit; l.Kind {
		case logic.MinProps, logic.MaxProps:
			r.other = true
		case logic.AllKeys, logic.SomeKey:
			r.counts = false
			set := &ob.sets.list[l.A]
			if name, one := set.single(); one {
				i := uni.at(name)
				r.names[i>>6] |= 1 << (i & 63)
				return
			}
			for i := range uni.names {
				if ob.keys.member(set, uni, int32(i), ob.keys.nameBits(uni, int32(i))) {
					r.names[i>>6] |= 1 << (i & 63)
				}
			}
			r.free = r.free || set.others || len(set.patterns) > 0
		}
	}
	visit(dyn)
	for _, k := range ob.forms.Conjuncts(dyn) {
		if info := &ob.forms.Info[k]; info.Op != logic.OpLit {
			r.counts = false
		} else if info.Lit.Kind == logic.MaxProps {
			r.most = min(r.most, int(info.Lit.A))
		}
	}
	ob.relevance.Put(key, r)
	return r
}

// untouched reports whether a member leaves dyn unchanged, so that the static part
// decides alone.
func (ob *objects) untouched(x *objState, name int32) bool {
	if x.dyn == logic.Yes {
		return true
	}
	r := ob.relevant(x.uni, x.dyn)
	if r.other {
		return false
	}
	if name < 0 {
		if r.free {
			return false
		}
		name = int32(len(ob.keys.universes[x.uni].names))
	} else if r.names[name>>6]>>(name&63)&1 != 0 {
		return false
	}
	if ob.opt.Order == OrderSchema {
		// Names that are skipped can't come any more.
		return logic.Next(r.names, x.last+1) >= name
	}
	return true
}

// allowance is a pair of sets of names in a state: those decided so far, and those of
// them that are allowed, both from the word of the first name that the order permits.
type allowance struct {
	known, allowed []uint64
	from, to       int32
}

// allowedName reports whether a name may come next.
func (ob *objects) allowedName(state, name int32) bool {
	a := ob.allowed[state]
	if a.known == nil {
		a.from, a.to = ob.window(&ob.states.Keys[state])
		words := a.to>>6 - a.from>>6 + 1
		both := make([]uint64, 2*words)
		a.known, a.allowed = both[:words:words], both[words:]
		ob.allowed[state] = a
	}
	if name < a.from || name > a.to {
		return false
	}
	w, bit := name>>6-a.from>>6, uint64(1)<<(name&63)
	if a.known[w]&bit == 0 {
		a.known[w] |= bit
		if ob.decideName(state, name) {
			a.allowed[w] |= bit
		}
	}
	return a.allowed[w]&bit != 0
}

func (ob *objects) decideName(state, name int32) bool {
	x := ob.states.Keys[state]
	if ob.isUsed(&x, name) {
		return false
	}
	if ob.untouched(&x, name) {
		return ob.sat.satisfiable(ob.memberGoal(ob.statics[x.static], name, 0))
	}
	if r := ob.relevant(x.uni, x.dyn); r.counts && ob.opt.Order == OrderAny {
		left := r.most
		own := 1
		for i, w := range ob.missing(&x) {
			left -= bits.OnesCount64(w)
			if int(name>>6) == i && w>>(name&63)&1 != 0 {
				own = 0
			}
		}
		return left >= own && ob.sat.satisfiable(ob.memberGoal(ob.statics[x.static], name, 0))
	}
	if ob.forms.Wide(x.dyn, manyKids) {
		return ob.canContinueWith(&x, name)
	}
	return len(ob.enter(state, name, 0)) > 0
}

// manyKids is the number of parts of a form from which computing its derivative
// takes longer than deciding whether it has terms.
const manyKids = 32

// canContinueWith reports whether an object can be completed with a member of a name
// that the order permits now. It answers the same question as enter, without the
// moves.
func (ob *objects) canContinueWith(x *objState, name int32) bool {
	has := logic.Lit{Kind: logic.SomeKey, A: ob.sets.oneName(ob.keys.universes[x.uni].names[name]), Goal: logic.Always}
	return ob.choose(ob.before(x, name), choice{lits: []logic.Lit{has}}, x.dyn)
}

// before returns the state in which, if the order is fixed, the names before the
// given one can't come any more.
func (ob *objects) before(x *objState, name int32) *objState {
	y := *x
	if ob.opt.Order == OrderSchema {
		y.last = name - 1
	}
	return &y
}

// mayCome returns the names of a key state, or those that the order permits if they are few.
func (ob *objects) mayCome(state int32, k keyState) []int32 {
	uni := ob.keys.universes[k.uni]
	all := uni.sorted[k.lo:k.hi]
	from, to := ob.window(&ob.states.Keys[state])
	if to = min(to, int32(len(uni.names))-1); len(all) <= 64 || int(to-from) > len(all)>>6 {
		return all
	}
	begun := ob.keys.nameAt(uni, k.lo)[:k.depth]
	var out []int32
	for name := from; name <= to; name++ {
		if strings.HasPrefix(ob.sets.names[uni.names[name]], begun) {
			out = append(out, name)
		}
	}
	return out
}

// allowedFree reports whether a key that isn't a name and matches the given patterns
// may come next.
func (ob *objects) allowedFree(state int32, matching uint64) bool {
	return len(ob.enter(state, -1, matching)) > 0
}
