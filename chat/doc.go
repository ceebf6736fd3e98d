// Package chat writes conversations down the way a model was trained to read
// them: by the Jinja template in the model's file.
//
// A template that no model file brings is never replaced in silence. Only when
// a file has none at all does [New] take [ChatML], and [Template.Fallback]
// says so; a template that can't be parsed is an error with line and column.
//
// Templates differ in what they can take. What a template can't do is found
// out once, by rendering small conversations when it is loaded ([Caps]), and
// evened out where that loses nothing:
//
//   - a template without system messages gets them at the beginning of the
//     first user message;
//   - "developer" becomes "system" where a template does not know it;
//   - where a template knows no tool calls, or no results of tools, these
//     become lines of JSON in the assistant's or the user's text;
//   - a message of text parts becomes one text;
//   - the arguments of tool calls are objects, or their JSON texts where a
//     template fails on objects; the content of a message that only calls
//     tools is none, or empty where a template fails on none.
//
// Templates run in package jinja, whose limits bound what a template from an
// unknown source can take in time and memory.
package chat
