import assert from 'node:assert/strict'
import test from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { Person, caller, greeting, hello, jsonSchema, random, thinker } from './shared.mjs'

const client = (url) => new Anthropic({ baseURL: url, apiKey: 'none' })
const body = { model: 'tiny', max_tokens: 200, messages: [{ role: 'user', content: 'Make up a person.' }] }

test('text, at once and streamed', async () => {
  const c = client(hello)
  const got = await c.messages.create({ ...body, temperature: 0 })
  assert.equal(got.content[0].text, greeting)
  assert.equal(got.stop_reason, 'end_turn')
  const stream = c.messages.stream({ ...body, temperature: 0 })
  let text = ''
  stream.on('text', (delta) => (text += delta))
  const final = await stream.finalMessage()
  assert.equal(text, greeting)
  assert.deepEqual(final.content, got.content)
  assert.deepEqual(final.usage.output_tokens, got.usage.output_tokens)
  const counted = await c.messages.countTokens({ model: body.model, messages: body.messages })
  assert.equal(counted.input_tokens, got.usage.input_tokens + got.usage.cache_read_input_tokens)
  assert.ok(final.usage.cache_read_input_tokens > 0)
})

test('output_config', async () => {
  const output_config = { format: { type: 'json_schema', schema: jsonSchema } }
  const got = await client(random).messages.create({ ...body, output_config })
  Person.parse(JSON.parse(got.content[0].text))
  Person.parse(JSON.parse(await client(random).messages.stream({ ...body, output_config }).finalText()))
})

test('tools', async () => {
  const tools = [{ name: 'save', description: 'Save a person.', input_schema: jsonSchema }]
  for (const tool_choice of [{ type: 'any' }, { type: 'tool', name: 'save' }]) {
    const got = await client(random).messages.create({ ...body, tools, tool_choice })
    assert.equal(got.stop_reason, 'tool_use')
    Person.parse(got.content[0].input)
  }
  const stream = client(caller).messages.stream({ ...body, tools, temperature: 0 })
  let snapshot
  stream.on('inputJson', (_, s) => (snapshot = s))
  const got = await stream.finalMessage()
  assert.deepEqual(got.content.map((b) => b.type), ['text', 'tool_use'])
  Person.parse(got.content[1].input)
  Person.parse(snapshot)
})

test('thinking', async () => {
  const stream = client(thinker).messages.stream({ ...body, temperature: 0, thinking: { type: 'enabled', budget_tokens: 1024 } })
  const got = await stream.finalMessage()
  assert.deepEqual(got.content.map((b) => b.thinking ?? b.text), ['hmm', greeting])
})

test('mistakes are not tried again', async () => {
  let requests = 0
  const c = new Anthropic({ baseURL: hello, apiKey: 'none', fetch: (...a) => { requests++; return fetch(...a) } })
  await assert.rejects(c.messages.create({ ...body, output_config: { fromat: {} } }), (e) => {
    assert.equal(e.error.error.type, 'invalid_request_error')
    return e instanceof Anthropic.BadRequestError
  })
  assert.equal(requests, 1)
})
