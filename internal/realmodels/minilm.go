package realmodels

// A Sentence is a text with its vector from [MiniLM].
type Sentence struct {
	Text   string
	Tokens []int32    // including the special tokens at both ends
	Norm   float64    // Euclidean norm of the mean of the tokens' vectors
	First  [8]float64 // the first components, normalised to length 1
}

// MiniLMSentences and MiniLMCosines are reference results for the weights of
// all-MiniLM-L6-v2, computed independently of this project: the forward pass of BERT
// with the exact Gaussian error function, in numpy 2.4 with 64-bit numbers over the
// original 32-bit weights. The tokens are those of the Python package tokenizers
// 0.23 with the original tokenizer.json.
//
// llama.cpp v0.5.0 on a CPU, which approximates GELU by tanh in half precision,
// differs by at most 2.3e-4 in each of the 384 components, with weights in F16 and
// in F32.
var (
	MiniLMSentences = []Sentence{
		{
			Text:   "The cat sits on the mat.",
			Tokens: []int32{101, 1996, 4937, 7719, 2006, 1996, 13523, 1012, 102},
			Norm:   5.867437,
			First:  [8]float64{0.134177, -0.032900, -0.024804, 0.041439, -0.036348, 0.041814, 0.031217, 0.037202},
		},
		{
			Text:   "A cat is lying on a rug.",
			Tokens: []int32{101, 1037, 4937, 2003, 4688, 2006, 1037, 20452, 1012, 102},
			Norm:   5.893271,
			First:  [8]float64{0.067690, 0.023927, 0.003895, 0.061806, -0.055490, 0.019007, -0.022047, 0.018301},
		},
		{
			Text:   "Crème brûlée für 12,50 € — isn't that dear?",
			Tokens: []int32{101, 13675, 21382, 7987, 9307, 2063, 6519, 2260, 1010, 2753, 1574, 1517, 3475, 1005, 1056, 2008, 6203, 1029, 102},
			Norm:   4.589988,
			First:  [8]float64{0.040052, 0.017413, 0.018350, -0.011258, -0.030591, -0.009030, 0.063058, 0.055069},
		},
	}
	// MiniLMCosines are the similarities of sentences 0 and 1, 0 and 2, 1 and 2.
	MiniLMCosines = [3]float64{0.634713, 0.005489, 0.002557}
)
