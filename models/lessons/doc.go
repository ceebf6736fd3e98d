// Package lessons writes the documents that the bundled model learns from and
// is examined with: a text, a JSON Schema, and the JSON that answers.
//
// Everything is put together at random, from lists and sentences written here:
// a record (a person, an order, a log line) is made, a text tells some of it,
// a schema asks for some of it, under names chosen from several. What is asked
// for and not told is null. Part of the names and words is made of syllables,
// so that a model can't know them by heart and has to copy.
//
// About one entry in six of every list, of words, sentences and names of
// properties, is held out: never used in training, and alone used where
// [Unseen] says so. Which ones follows from the text of the entry. Names of
// properties and of classes that are held out are met in training as parts of
// longer names: nobody can guess what a word means that he never met.
package lessons
