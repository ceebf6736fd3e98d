// Package asking gets documents from models that no mask can be laid over:
// those behind an upstream, and the local one where a request wants it to write
// freely.
//
// The model is asked in the best way that it offers (a [Strategy]), what it
// writes is read with package repair and checked, and if it will not do the
// model is told what is wrong and asked again. [Ask] does all of it.
//
// What goes wrong on the way is kept as a [Failure], with everything that helps
// to find out why, and put into the log. Callers get a [FailureReason]: what
// happened in terms of what they asked for, with nothing of how it was done.
package asking
