package vocab

// Infill are the tokens with which models that were trained for it are asked to fill in the text between two others; -1
// where there is none.
type Infill struct {
	Prefix, Suffix, Middle int32 // before the text that comes first, before the one that comes last, and where the answer begins
	Repo, File             int32 // before the name of a repository, and before each further file
}

// InfillOf returns those of a vocabulary. The second result is false if one of the first three is missing.
func InfillOf(v *Vocab) (Infill, bool) {
	sp := &v.special
	t := Infill{Prefix: sp.fimPre, Suffix: sp.fimSuf, Middle: sp.fimMid, Repo: sp.fimRep, File: sp.fimSep}
	return t, t.Prefix >= 0 && t.Suffix >= 0 && t.Middle >= 0
}
