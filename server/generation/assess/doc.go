// Package assess takes a model's assessment of its own answer out of texts as they come, and weighs it against what is
// known of the model from outcomes that were reported.
package assess
