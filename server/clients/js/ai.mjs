import assert from 'node:assert/strict'
import test from 'node:test'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateObject, generateText, stepCountIs, streamObject, streamText, tool } from 'ai'
import { Person, caller, greeting, hello, random, thinker } from './shared.mjs'

const model = (url, supportsStructuredOutputs = true) =>
  createOpenAICompatible({ name: 'stencil', baseURL: `${url}/v1`, includeUsage: true, supportsStructuredOutputs })('tiny')
const prompt = 'Make up a person.'
const maxRetries = 0

test('generateText and streamText', async () => {
  const got = await generateText({ model: model(hello), prompt, temperature: 0, maxRetries })
  assert.equal(got.text, greeting)
  assert.equal(got.finishReason, 'stop')
  const stream = streamText({ model: model(hello), prompt, temperature: 0, maxRetries })
  let text = ''
  for await (const delta of stream.textStream) text += delta
  assert.equal(text, greeting)
  assert.equal((await stream.usage).outputTokens, got.usage.outputTokens)
})

test('generateObject', async () => {
  for (let seed = 0; seed < 5; seed++) {
    const got = await generateObject({ model: model(random), schema: Person, prompt, seed, maxOutputTokens: 60, maxRetries })
    Person.parse(got.object)
  }
})

test('generateObject with no more than json_object', async () => {
  const got = await generateObject({ model: model(random, false), output: 'no-schema', prompt, maxOutputTokens: 60, maxRetries })
  assert.equal(typeof got.object, 'object')
})

test('streamObject', async () => {
  const stream = streamObject({ model: model(random), schema: Person, prompt, seed: 2, maxOutputTokens: 60, maxRetries })
  let parts = 0
  for await (const _ of stream.partialObjectStream) parts++
  Person.parse(await stream.object)
  assert.ok(parts > 1)
})

test('tools', async () => {
  const saved = []
  const tools = { save: tool({ description: 'Save a person.', inputSchema: Person, execute: async (p) => { saved.push(p); return 'saved' } }) }
  const one = await generateText({ model: model(random), prompt, tools, toolChoice: 'required', seed: 3, maxOutputTokens: 200, maxRetries })
  assert.ok(one.toolCalls.length > 0)
  const got = await generateText({ model: model(caller), prompt, tools, temperature: 0, maxRetries, stopWhen: stepCountIs(2) })
  assert.equal(got.steps.length, 2)
  assert.equal(got.steps[0].text, 'I will. ')
  const stream = streamText({ model: model(caller), prompt, tools, temperature: 0, maxRetries })
  const calls = await stream.toolCalls
  assert.equal(calls.length, 1)
  saved.forEach((p) => Person.parse(p))
  assert.ok(saved.length >= 3)
})

test('reasoning', async () => {
  const body = { prompt, temperature: 0, maxRetries, providerOptions: { stencil: { reasoning: true } } }
  const got = await generateText({ model: model(thinker), ...body })
  assert.equal(got.reasoningText, 'hmm')
  assert.equal(got.text, greeting)
})
