// Package assess separates a model's signals from its texts as they are generated, and weighs them against what
// reported outcomes show about the model.
package assess
