// Package chat renders conversations with the chat template in a model's file, a
// Jinja template that produces the format that the model was trained on.
//
// If a file has no template, [New] uses [ChatML], and [Template.Fallback] reports
// this. A template that can't be parsed is an error with line and column; it is never
// replaced.
//
// Templates differ in what they support. When a template is loaded, its capabilities
// ([Caps]) are probed by rendering small conversations, and messages are then adapted
// if that loses nothing:
//
//   - for a template without system messages, these are put at the beginning of the
//     first user message;
//   - "developer" becomes "system" if the template does not know it;
//   - if the template does not support tool calls or tool results, these become lines
//     of JSON in the text of the assistant or the user;
//   - a message of text parts becomes one text;
//   - the arguments of tool calls are objects, or JSON texts if the template fails on
//     objects; the content of a message with tool calls only is none, or empty if the
//     template fails on none.
//
// Templates run in package jinja, which limits the time and memory of templates from
// unknown sources.
package chat
