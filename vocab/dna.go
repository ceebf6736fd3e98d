package vocab

import "strings"

// Tokens for six bases are marked in the file, because "CCCCCC" may be a token of plain text too.
const (
	kmerMark = "\ue000"
	kmerSize = 6
)

// findKmers returns where a HybridDNA vocabulary has its tokens for bases: behind "<oov>".
func findKmers(v *Vocab) int32 {
	if id, ok := v.Find("<oov>"); ok && v.model == HybridDNA {
		return id + 1
	}
	return -1
}

// spelling returns the token's text as it is shown and looked for: without the mark of bases.
func (v *Vocab) spelling(id int32) string {
	text := v.Text(id)
	if v.kmers >= 0 && id >= v.kmers && len(text) > len(kmerMark) {
		return strings.TrimSuffix(text, kmerMark)
	}
	return text
}

// hybridDNA tokenizes as BPE does, but for text between <dna> and </dna>: that is cut into six bases
// a token, small letters counting as large ones, and the last token filled up with A. What is no
// base makes the token for unknown ones, "<oov>". Text that must be exact is BPE throughout.
type hybridDNA struct {
	*bpe
	begin, end, unknown int32
}

const (
	dnaBegin = "<dna>"
	dnaEnd   = "</dna>"
)

// newHybridDNA returns plain BPE for a vocabulary that lacks one of the three tokens.
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

// kmers appends the tokens of a run of bases.
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
