import assert from 'node:assert/strict'
import test from 'node:test'
import { Ollama } from 'ollama'
import { Person, animals, caller, embedder, greeting, hello, isUnit, jsonSchema, messages, random, thinker } from './shared.mjs'

const client = (host) => new Ollama({ host })
const model = 'tiny'
const greedy = { temperature: 0, repeat_penalty: 1 }

test('chat, at once and streamed', async () => {
  const c = client(hello)
  const got = await c.chat({ model, messages, options: greedy })
  assert.equal(got.message.content, greeting)
  assert.equal(got.done_reason, 'stop')
  let text = '', last
  for await (const part of await c.chat({ model, messages, options: greedy, stream: true })) {
    text += part.message.content
    last = part
  }
  assert.equal(text, greeting)
  assert.equal(last.done, true)
  assert.equal(last.eval_count, got.eval_count)
  assert.equal((await c.generate({ model, prompt: 'hi', options: greedy })).response, greeting)
})

test('a conversation by its context', async () => {
  const c = client(hello)
  const one = await c.generate({ model, prompt: 'hi', options: greedy })
  const two = await c.generate({ model, prompt: 'and again', context: one.context, options: greedy })
  assert.equal(two.response, greeting)
  assert.deepEqual(two.context.slice(0, one.context.length), one.context)
  assert.equal(two.prompt_eval_count + two.eval_count, two.context.length)
  await assert.rejects(c.generate({ model, prompt: 'a', suffix: 'b' }), (e) => e.status_code === 400 && /does not support insert/.test(e.message))
})

test('format', async () => {
  const c = client(random)
  Person.parse(JSON.parse((await c.chat({ model, messages, format: jsonSchema, options: { num_predict: 60 } })).message.content))
  Person.parse(JSON.parse((await c.generate({ model, prompt: 'a person', format: jsonSchema, options: { num_predict: 60 } })).response))
  assert.equal(typeof JSON.parse((await c.chat({ model, messages, format: 'json', options: { num_predict: 60 } })).message.content), 'object')
})

test('tools', async () => {
  const tools = [{ type: 'function', function: { name: 'save', description: 'Save a person.', parameters: jsonSchema } }]
  const got = await client(caller).chat({ model, messages, tools, options: greedy })
  Person.parse(got.message.tool_calls[0].function.arguments)
  const more = [...messages, got.message, { role: 'tool', tool_name: 'save', content: 'saved' }]
  const calls = []
  for await (const part of await client(caller).chat({ model, messages: more, tools, options: greedy, stream: true })) {
    calls.push(...(part.message.tool_calls ?? []))
  }
  assert.equal(calls.length, 1)
})

test('think', async () => {
  const got = await client(thinker).chat({ model, messages, think: true, options: greedy })
  assert.equal(got.message.thinking, 'hmm')
  assert.equal(got.message.content, greeting)
  await assert.rejects(client(hello).chat({ model, messages, think: true }), (e) => e.status_code === 400 && /does not support thinking/.test(e.message))
})

test('models', async () => {
  const c = client(hello)
  assert.deepEqual((await c.list()).models.map((m) => m.name), [model])
  assert.deepEqual((await c.ps()).models.map((m) => m.name), [model])
  assert.equal((await c.show({ model })).details.format, 'gguf')
  assert.match((await c.version()).version, /^\d+\.\d+\.\d+$/)
  const statuses = []
  for await (const part of await c.pull({ model, stream: true })) statuses.push(part.status)
  assert.equal(statuses.at(-1), 'success')
  await assert.rejects(c.pull({ model: 'none' }), (e) => e.status_code === 404 && /not found/.test(e.message))
})

test('embeddings', async () => {
  const c = client(embedder)
  const got = await c.embed({ model, input: animals })
  assert.ok(isUnit(got.embeddings[1], 8))
  assert.deepEqual(got.embeddings[0], got.embeddings[2])
  const short = await c.embed({ model, input: 'the cat', dimensions: 3, truncate: false })
  assert.ok(isUnit(short.embeddings[0], 3))
  assert.equal((await c.embeddings({ model, prompt: 'the cat' })).embedding.length, 8)
  assert.deepEqual((await c.show({ model })).capabilities, ['embedding'])
  await assert.rejects(c.chat({ model, messages }), { status_code: 400 })
})

test('mistakes', async () => {
  await assert.rejects(client(hello).chat({ model: 'llama9', messages }), { status_code: 404 })
  await assert.rejects(client(hello).chat({ model, messages, format: { type: 'nothing' } }), { status_code: 400 })
})
