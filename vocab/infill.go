package vocab

// Infill are the tokens for fill-in-the-middle prompts; -1 means that there is none.
type Infill struct {
	Prefix, Suffix, Middle int32 // before the text that precedes the gap, before the text that follows it, and before the answer
	Repo, File             int32 // before the name of a repository, and before each additional file
}

// InfillOf returns the infill tokens of a vocabulary. The second result is false if one of the
// first three is missing.
func InfillOf(v *Vocab) (Infill, bool) {
	sp := &v.special
	t := Infill{Prefix: sp.fimPre, Suffix: sp.fimSuf, Middle: sp.fimMid, Repo: sp.fimRep, File: sp.fimSep}
	return t, t.Prefix >= 0 && t.Suffix >= 0 && t.Middle >= 0
}
