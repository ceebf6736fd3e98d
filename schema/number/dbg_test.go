package number
import ("testing";"time";"strings";"fmt")
func TestDbg(t *testing.T){
 lap:=func(name string, f func()){ t0:=time.Now(); f(); t.Log(name,time.Since(t0)) }
 var list []Decimal
 for i:=1;i<=100000;i++ { list=append(list, FromInt(int64(i))) }
 lim:=Limits{}
 for _,sp:=range []Spelling{AnySpelling,Canonical}{
 lap("notin all",func(){ _,err:=Compile(Spec{Integer:true,Min:pointerTo("1"),Max:pointerTo("100000"),NotIn:list},sp,lim); t.Log(err)})
 lap("notin but one",func(){ a,err:=Compile(Spec{Integer:true,Min:pointerTo("1"),Max:pointerTo("100001"),NotIn:list},sp,lim); t.Log(err, string(a.Shortest(0)), a.States(), a.Count(5))})
 lap("in all",func(){ a,err:=Compile(Spec{In:list,HasIn:true},sp,Limits{States:1<<20}); t.Log(err, string(a.Shortest(0)), a.States())})
 lap("free notin",func(){ a,_:=Compile(Spec{NotIn:list},sp,lim); t.Log(explore(a,4)) })
 var pows []Decimal
 for i:= -50000;i<50000;i++ { pows=append(pows, mustParse(fmt.Sprintf("1e%d",i))) }
 lap("powers",func(){ a,err:=Compile(Spec{NotIn:pows},sp,lim); t.Log(err, explore(a,4)) })
 lap("long const",func(){ a,err:=Compile(Spec{HasIn:true,In:decimals(strings.Repeat("7",100000))},sp,lim); t.Log(err); if err==nil {t.Log(len(a.Shortest(0)))} })
 lap("big modulus",func(){ a,err:=Compile(Spec{MultipleOf:decimals(strings.Repeat("7",500)+"e-500"),Min:pointerTo("1"), Max:pointerTo("1e300")},sp,lim); t.Log(err); if err==nil{ t.Log(len(a.Shortest(0)), explore(a,3))} })
 lap("two big moduli",func(){ a,err:=Compile(Spec{MultipleOf:decimals(strings.Repeat("7",500)+"1",strings.Repeat("3",600)+"1"),Min:pointerTo("1")},sp,lim); t.Log(err); if err==nil{ t.Log(len(a.Shortest(0)), explore(a,3))} })
 lap("wide",func(){ a,err:=Compile(Spec{MultipleOf:decimals("1e-300"),Min:pointerTo("1e-300"), Max:pointerTo("1e300")},sp,lim); t.Log(err); if err==nil{ t.Log(len(a.Shortest(0)), explore(a,3))} })
 lap("1e99999",func(){ a,err:=Compile(Spec{Min:pointerTo("1e-99999"), Max:pointerTo("1e99999"),NotInteger:true},sp,lim); t.Log(err); if err==nil{ t.Log(len(a.Shortest(0)), explore(a,3))} })
 lap("gaps",func(){ a,err:=Compile(Spec{Integer:true,Min:pointerTo("2"), Max:pointerTo("1e300"),NotMultipleOf:decimals("2","3","5","7","11","13","17","19","23","29","31","37")},sp,lim); t.Log(err); if err==nil{ t.Log(string(a.Shortest(0)), explore(a,3))} })
 }
}
