// Package lessons generates the synthetic training and evaluation data of the bundled
// model: a text, a JSON Schema, and the JSON answer.
//
// Everything is composed at random from the lists and sentence patterns in lists/*.txt:
// a record (a person, an order, a log line) is generated, a text states a part of it,
// and a schema asks for a part of it, under property names chosen among several. A
// value that the schema asks for and the text does not state is null. Some names and
// words are composed of syllables, so that the model cannot memorise them and must copy.
//
// About one entry in six of every list (words, sentence patterns, property names) is
// held out: it is never used in training, and is the only choice with [Unseen]. The
// text of an entry determines whether it is held out. Held-out names of properties and
// classes occur in training as parts of longer names, because the meaning of a word
// that never occurs cannot be learnt.
package lessons
