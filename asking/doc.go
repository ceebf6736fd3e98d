// Package asking obtains structured output from models without masks: models behind
// an upstream, whose logits are unavailable, and the local model if a request
// disables constrained decoding. It validates each answer and re-asks.
//
// The model is asked by the strongest mechanism that it offers (a [Strategy]). Its
// answer is read with package repair and validated. If it is invalid, the errors are
// sent to the model, which is asked again. [Ask] does all of this.
//
// Internally, an error is a [Failure], which holds everything that helps to diagnose
// it and is logged. Callers get a [FailureReason], which describes the error in terms
// of their request, without internal details except in TechnicalDetails.
package asking
