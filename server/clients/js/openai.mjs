import assert from 'node:assert/strict'
import test from 'node:test'
import OpenAI from 'openai'
import { zodFunction, zodResponseFormat, zodTextFormat } from 'openai/helpers/zod'
import { Person, animals, caller, embedder, greeting, hello, isUnit, messages, random } from './shared.mjs'

const client = (url) => new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none' })
const model = 'tiny'

test('chat, at once and streamed', async () => {
  const c = client(hello)
  const got = await c.chat.completions.create({ model, messages, temperature: 0 })
  assert.equal(got.choices[0].message.content, greeting)
  assert.equal(got.choices[0].message.refusal, null)
  const stream = c.chat.completions.stream({ model, messages, temperature: 0, stream_options: { include_usage: true } })
  let text = ''
  stream.on('content', (delta) => (text += delta))
  const final = await stream.finalChatCompletion()
  assert.equal(text, greeting)
  assert.equal(final.choices[0].message.content, greeting)
  assert.equal((await stream.totalUsage()).completion_tokens, got.usage.completion_tokens)
})

test('parse', async () => {
  for (let seed = 0; seed < 5; seed++) {
    const got = await client(random).chat.completions.parse({
      model, messages, seed, max_tokens: 60, response_format: zodResponseFormat(Person, 'person'),
    })
    Person.parse(got.choices[0].message.parsed)
  }
})

test('parse, streamed', async () => {
  const stream = client(random).chat.completions.stream({
    model, messages, seed: 1, max_tokens: 60, response_format: zodResponseFormat(Person, 'person'),
  })
  const partial = []
  stream.on('content.delta', ({ parsed }) => partial.push(parsed))
  const got = await stream.finalChatCompletion()
  Person.parse(got.choices[0].message.parsed)
  assert.ok(partial.length > 1)
})

test('tools, named, required and auto', async () => {
  const tools = [zodFunction({ name: 'save', parameters: Person })]
  for (const tool_choice of ['required', { type: 'function', function: { name: 'save' } }]) {
    const got = await client(random).chat.completions.parse({ model, messages, tools, tool_choice, seed: 3, max_tokens: 200, parallel_tool_calls: false })
    const [call] = got.choices[0].message.tool_calls
    assert.equal(got.choices[0].finish_reason, 'tool_calls')
    Person.parse(call.function.parsed_arguments)
  }
  const stream = client(caller).chat.completions.stream({ model, messages, tools, temperature: 0 })
  const got = await stream.finalChatCompletion()
  assert.equal(got.choices[0].message.content, 'I will. ')
  Person.parse(got.choices[0].message.tool_calls[0].function.parsed_arguments)
})

test('runTools', async () => {
  const saved = []
  const runner = client(caller).chat.completions.runTools(
    {
      model, messages, temperature: 0,
      tools: [zodFunction({ name: 'save', parameters: Person, function: (person) => { saved.push(person); return 'saved' } })],
    },
    { maxChatCompletions: 2 },
  )
  await runner.done()
  assert.equal(saved.length, 2)
  Person.parse(saved[0])
})

test('responses', async () => {
  const c = client(random)
  const body = { model, input: 'Make up a person.', max_output_tokens: 60, text: { format: zodTextFormat(Person, 'person') } }
  const got = await c.responses.parse(body)
  Person.parse(got.output_parsed)
  assert.equal(got.status, 'completed')
  const stream = c.responses.stream(body)
  let text = ''
  stream.on('response.output_text.delta', ({ delta }) => (text += delta))
  const final = await stream.finalResponse()
  Person.parse(final.output_parsed)
  assert.equal(final.output_text, text)
})

// The client asks for base64 unless it is told otherwise, and decodes it.
test('fields without effect', async () => {
  const c = client(hello)
  const moderation = { model: 'omni-moderation-latest' }
  const got = await c.chat.completions.create({ model, messages, temperature: 0, moderation, thinking: { type: 'disabled' } })
  assert.equal(got.choices[0].message.content, greeting)
  const context_management = [{ type: 'compaction', compact_threshold: 1000 }]
  assert.equal((await c.responses.create({ model, input: 'hi', temperature: 0, moderation, context_management })).output_text, greeting)
  await assert.rejects(c.responses.compact({ model, input: 'hi' }), (e) => e.status === 404 && /not compacted/.test(e.message))
  await assert.rejects(c.completions.create({ model, prompt: 'a', suffix: 'b' }), (e) => e.status === 400 && e.param === 'suffix')
})

test('embeddings', async () => {
  const c = client(embedder)
  const got = await c.embeddings.create({ model, input: animals })
  assert.ok(isUnit(got.data[1].embedding, 8))
  assert.deepEqual(got.data[0].embedding, got.data[2].embedding)
  const plain = await c.embeddings.create({ model, input: animals, encoding_format: 'float' })
  assert.deepEqual(Array.from(got.data[0].embedding), Array.from(Float32Array.from(plain.data[0].embedding)))
  const short = await c.embeddings.create({ model, input: 'the cat', dimensions: 3 })
  assert.ok(isUnit(short.data[0].embedding, 3))
  await assert.rejects(c.embeddings.create({ model, input: '' }), { status: 400, param: 'input' })
  await assert.rejects(c.chat.completions.create({ model, messages }), { status: 400, code: 'model_not_capable' })
})

test('mistakes are not tried again', async () => {
  let requests = 0
  const c = new OpenAI({ baseURL: `${hello}/v1`, apiKey: 'none', fetch: (...a) => { requests++; return fetch(...a) } })
  await assert.rejects(c.chat.completions.create({ model, messages, respose_format: {} }), (e) => {
    assert.equal(e.status, 400)
    assert.equal(e.code, 'unknown_field')
    assert.equal(e.param, 'respose_format')
    return e instanceof OpenAI.BadRequestError
  })
  await assert.rejects(c.chat.completions.create({ model: 'gpt-9', messages }), OpenAI.NotFoundError)
  assert.equal(requests, 2)
})
