package vocab

import "strings"

// Tokens of six bases are marked in the file, because "CCCCCC" may be a plain text token too.
const (
	kmerMark = "\ue000"
	kmerSize = 6
)

// findKmers returns the first token for bases in a HybridDNA vocabulary, which follows "<oov>".
func findKmers(v *Vocab) int32 {
	if id, ok := v.Find("<oov>"); ok && v.model == HybridDNA {
		return id + 1
	}
	return -1
}

// spelling returns the token's text for display and lookup, without the mark of bases.
func (v *Vocab) spelling(id int32) string {
	text := v.Text(id)
	if v.kmers >= 0 && id >= v.kmers && len(text) > len(kmerMark) {
		return strings.TrimSuffix(text, kmerMark)
	}
	return text
}

// hybridDNA tokenizes like BPE, except for text between <dna> and </dna>: that is split into
// tokens of six bases, regardless of case, the last one padded with A. Invalid bases become the
// token "<oov>". Text that must be exact is tokenized with BPE alone.
type hybridDNA struct {
	*bpe
	begin, end, unknown int32
}

const (
	dnaBegin = "<dna>"
	dnaEnd   = "</dna>"
)

// newHybridDNA returns plain BPE if the vocabulary lacks one of the three tokens.
func newHybridDNA(v *Vocab) tokenizer {
	find := func(text string) int32 { return v.index.find(v.texts, text) }
	d := &hybridDNA{newBPE(v), find(dnaBegin), find(dnaEnd), find("<oov>")}
	if d.begin < 0 || d.end < 0 || d.unknown < 0 {
		return d.bpe
	}
	return d
}

func (d *hybridDNA) tokenize(dst []int32, text string, mode tokenizeMode) []int32 {
	if mode.exact {
		return d.bpe.tokenize(dst, text, mode)
	}
	for text != "" {
		plain, rest, found := strings.Cut(text, dnaBegin)
		dst = d.bpe.tokenize(dst, plain, mode)
		if !found {
			break
		}
		dst = append(dst, d.begin)
		var bases string
		if bases, text, found = strings.Cut(rest, dnaEnd); found {
			dst = d.kmers(dst, bases)
			dst = append(dst, d.end)
		} else {
			dst = d.kmers(dst, bases)
		}
	}
	return dst
}

// kmers appends the tokens of a sequence of bases.
func (d *hybridDNA) kmers(dst []int32, bases string) []int32 {
	var buf [kmerSize + len(kmerMark)]byte
	copy(buf[kmerSize:], kmerMark)
	for len(bases) > 0 {
		n := min(kmerSize, len(bases))
		for i := range kmerSize {
			buf[i] = 'A'
			if i < n {
				buf[i] = bases[i]
			}
			if buf[i] >= 'a' && buf[i] <= 'z' {
				buf[i] -= 'a' - 'A'
			}
		}
		bases = bases[n:]
		id := d.v.index.findBytes(d.v.texts, buf[:])
		if id < 0 {
			id = d.unknown
		}
		dst = append(dst, id)
	}
	return dst
}
