package jinja

// expr is a node that has a value.
type expr interface {
	eval(r *run, s *scope) (any, error)
	where() place
}

// stmt is a node that writes output or changes names.
type stmt interface {
	exec(r *run, s *scope) error
}

func (p place) where() place { return p }

type (
	literal struct {
		place
		value any
	}
	nameExpr struct {
		place
		name string
	}
	listExpr struct {
		place
		items []expr
		tuple bool
	}
	dictExpr struct {
		place
		keys, values []expr
	}
	unaryExpr struct {
		place
		op string // "not", "-", "+"
		x  expr
	}
	binaryExpr struct {
		place
		op   string
		x, y expr
	}
	compareExpr struct {
		place
		first expr
		ops   []string
		rest  []expr
	}
	condExpr struct {
		place
		cond, then, other expr // other may be nil
	}
	attrExpr struct {
		place
		x    expr
		name string
	}
	indexExpr struct {
		place
		x, index expr
	}
	sliceExpr struct {
		place
		x              expr
		from, to, step expr // each may be nil
	}
	callExpr struct {
		place
		fn   expr
		args arguments
	}
	filterExpr struct {
		place
		x    expr // nil in a filter block
		name string
		fn   filterFunc
		args arguments
	}
	testExpr struct {
		place
		x      expr
		name   string
		fn     testFunc
		args   arguments
		negate bool
	}
)

// arguments are the arguments of a call.
type arguments struct {
	positional []expr
	names      []string
	named      []expr
	list, dict expr // *args and **kwargs, or nil
}

type (
	textStmt   struct{ text string }
	outputStmt struct {
		place
		x expr
	}
	ifStmt struct {
		conds []expr
		then  [][]stmt
		other []stmt
	}
	forStmt struct {
		place
		target    target
		over      expr
		filter    expr // or nil
		recursive bool
		body      []stmt
		other     []stmt
	}
	loopStmt struct{ leave error } // break or continue
	setStmt  struct {
		place
		target target
		x      expr
	}
	setBlockStmt struct {
		place
		target target
		filter *filterExpr // or nil
		body   []stmt
	}
	macroStmt struct {
		place
		macro *macro
	}
	callStmt struct {
		place
		call   *callExpr
		caller *macro
	}
	filterStmt struct {
		place
		filter *filterExpr
		body   []stmt
	}
	withStmt struct {
		place
		targets []target
		values  []expr
		body    []stmt
	}
	blockStmt struct{ body []stmt } // a generation block
)

// target is what an assignment assigns to: a name, an attribute of a
// namespace, or several targets.
type target struct {
	place
	name  string
	attr  string   // of the namespace called name, or ""
	parts []target // unpacked, instead of a name
}

// macro is the definition of a macro; macroValue is a callable one.
type macro struct {
	place
	name     string
	params   []string
	defaults []expr // of the last parameters
	body     []stmt
	catches  struct{ caller, varargs, kwargs bool } // names that its body reads
}
