package outcomes

import "math"

// Bins is the number of confidence bins, all of equal width.
const Bins = 10

// scale is the fixed-point scale of confidences and squared errors in totals. Integers
// can be subtracted again without a rounding error.
const scale = 1_000_000

// Totals are sums over the outcomes of one model.
type Totals struct {
	Bins [Bins]Bin `json:"bins"`
	// Squares is the sum of the squared differences between confidence and
	// outcome, in units of 1e-6.
	Squares int64 `json:"squares"`
}

// A Bin is the totals of a range of confidences.
type Bin struct {
	Count      int64 `json:"count"`
	Successes  int64 `json:"successes"`
	Confidence int64 `json:"confidence"` // sum, in units of 1e-6
}

// add adds an outcome (sign 1) or subtracts it (sign -1).
func (t *Totals) add(confidence float64, success bool, sign int64) {
	parts := int64(math.Round(confidence * scale))
	hit := int64(0)
	if success {
		hit = 1
	}
	b := &t.Bins[min(Bins-1, parts*Bins/scale)]
	b.Count += sign
	b.Successes += sign * hit
	b.Confidence += sign * parts
	off := float64(parts)/scale - float64(hit)
	t.Squares += sign * int64(math.Round(off*off*scale))
}

// Calibration is how well the confidence of a model predicts whether it is right.
type Calibration struct {
	Count int // outcomes
	// Error is the expected calibration error: the mean over 10 bins of equal
	// width, weighted by count, of the difference between mean confidence and
	// share of successes. Naeini, Cooper, Hauskrecht:
	// Obtaining Well Calibrated Probabilities Using Bayesian Binning, AAAI
	// 2015; with confidences as here: Guo, Pleiss, Sun, Weinberger: On
	// Calibration of Modern Neural Networks, ICML 2017. 0 without outcomes.
	Error float64
	// Brier is the mean squared difference between confidence and outcome
	// (Brier, 1950).
	Brier      float64
	Confidence float64 // the mean
	Accuracy   float64 // share of successes
	Bins       [Bins]BinCalibration
}

// BinCalibration is the calibration in one bin of confidences: bin 0 is below 0.1, bin
// 9 from 0.9 to 1.
type BinCalibration struct {
	Count                int
	Confidence, Accuracy float64 // means; 0 without outcomes
}

// Calibration computes the calibration from the totals.
func (t *Totals) Calibration() (c Calibration) {
	for i, b := range t.Bins {
		if b.Count == 0 {
			continue
		}
		n := float64(b.Count)
		one := BinCalibration{int(b.Count), float64(b.Confidence) / scale / n, float64(b.Successes) / n}
		c.Bins[i] = one
		c.Count += one.Count
		c.Error += n * math.Abs(one.Accuracy-one.Confidence)
		c.Confidence += n * one.Confidence
		c.Accuracy += n * one.Accuracy
	}
	if c.Count == 0 {
		return Calibration{}
	}
	n := float64(c.Count)
	c.Error, c.Confidence, c.Accuracy, c.Brier = c.Error/n, c.Confidence/n, c.Accuracy/n, float64(t.Squares)/scale/n
	return c
}
