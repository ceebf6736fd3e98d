// Conversations that go on: by references to what the server stored, by clients' own sessions, by loops of tools.
import assert from 'node:assert/strict'
import test from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { mcpTools } from '@anthropic-ai/sdk/helpers/beta/mcp'
import { createOpenAI } from '@ai-sdk/openai'
import { Agent, OpenAIConversationsSession, OpenAIProvider, Runner, setTracingDisabled } from '@openai/agents'
import { generateText, streamText } from 'ai'
import OpenAI from 'openai'
import { answering, caller, greeting, hello, jsonSchema, random } from './shared.mjs'

const text = (what) => [{ role: 'user', content: what }]

test('previous_response_id, retrieve, input items, delete', async () => {
  const c = new OpenAI({ baseURL: `${hello}/v1`, apiKey: 'ann', maxRetries: 0 })
  const first = await c.responses.create({ model: 'tiny', input: 'a', temperature: 0 })
  const second = await c.responses.create({ model: 'tiny', input: 'b', temperature: 0, previous_response_id: first.id })
  assert.equal(second.output_text, greeting)
  const got = await c.responses.retrieve(second.id)
  assert.equal(got.output_text, greeting)
  assert.equal(got.previous_response_id, first.id)
  const items = []
  for await (const item of c.responses.inputItems.list(second.id, { order: 'asc', limit: 1 })) items.push(item.role)
  assert.deepEqual(items, ['user', 'assistant', 'user'])
  const counted = await c.responses.inputTokens.count({ model: 'tiny', input: 'b', previous_response_id: first.id })
  assert.equal(counted.input_tokens, second.usage.input_tokens)
  await assert.rejects(new OpenAI({ baseURL: `${hello}/v1`, apiKey: 'bob' }).responses.retrieve(first.id), OpenAI.NotFoundError)
  await c.responses.delete(first.id)
  await assert.rejects(c.responses.retrieve(first.id), OpenAI.NotFoundError)
})

test('responses in the background', async () => {
  const c = new OpenAI({ baseURL: `${hello}/v1`, apiKey: 'none', maxRetries: 0 })
  let got = await c.responses.create({ model: 'tiny', input: 'a', temperature: 0, background: true })
  assert.equal(got.status, 'queued')
  while (got.status === 'queued' || got.status === 'in_progress') got = await c.responses.retrieve(got.id)
  assert.equal(got.status, 'completed')
  assert.equal(got.output_text, greeting)
  assert.equal((await c.responses.cancel(got.id)).status, 'completed')

  // The client leaves after the first text, and comes back.
  let id, last
  for await (const event of await c.responses.create({ model: 'tiny', input: 'a', temperature: 0, background: true, stream: true })) {
    id ??= event.response.id
    last = event.sequence_number
    if (event.type === 'response.output_text.delta') break
  }
  let rest = ''
  for await (const event of await c.responses.retrieve(id, { stream: true, starting_after: last })) {
    assert.equal(event.sequence_number, ++last)
    if (event.type === 'response.output_text.done') rest = event.text
  }
  assert.equal(rest, greeting)
  const types = []
  const stream = c.responses.stream({ response_id: id, starting_after: 2 })
  stream.on('event', (event) => types.push(event.type))
  assert.equal((await stream.finalResponse()).output_text, greeting)
  assert.equal(types[0], 'response.output_item.added')
  const whole = c.responses.stream({ response_id: got.id }) // its items come at once
  assert.equal((await whole.finalResponse()).output_text, greeting)

  const long = { format: { type: 'json_schema', name: 'x', schema: { type: 'string', minLength: 3000 } } }
  const r = new OpenAI({ baseURL: `${random}/v1`, apiKey: 'none', maxRetries: 0 })
  const begun = await r.responses.create({ model: 'tiny', input: 'a', background: true, text: long, max_output_tokens: 3500 })
  assert.equal((await r.responses.cancel(begun.id)).status, 'cancelled')
  await assert.rejects(c.responses.create({ model: 'tiny', input: 'a', background: true, store: false }), OpenAI.BadRequestError)
})

test('conversations', async () => {
  const c = new OpenAI({ baseURL: `${hello}/v1`, apiKey: 'ann', maxRetries: 0 })
  const talk = await c.conversations.create({ metadata: { topic: 'tea' }, items: [{ role: 'user', content: 'a' }] })
  assert.deepEqual((await c.conversations.update(talk.id, { metadata: { mood: 'calm' } })).metadata, { mood: 'calm' })
  const got = await c.responses.create({ model: 'tiny', input: 'b', temperature: 0, conversation: talk.id })
  assert.equal(got.conversation.id, talk.id)
  await c.responses.stream({ model: 'tiny', input: 'c', temperature: 0, conversation: { id: talk.id } }).finalResponse()
  const texts = []
  for await (const item of c.conversations.items.list(talk.id, { order: 'asc', limit: 2 })) texts.push(item.content[0].text)
  assert.deepEqual(texts, ['a', 'b', greeting, 'c', greeting])
  const added = await c.conversations.items.create(talk.id, { items: [{ role: 'user', content: 'd' }] })
  assert.equal((await c.conversations.items.retrieve(added.last_id, { conversation_id: talk.id })).content[0].text, 'd')
  assert.equal((await c.conversations.items.delete(added.last_id, { conversation_id: talk.id })).id, talk.id)
  const bob = new OpenAI({ baseURL: `${hello}/v1`, apiKey: 'bob', maxRetries: 0 })
  await assert.rejects(bob.conversations.retrieve(talk.id), OpenAI.NotFoundError)
  await assert.rejects(c.responses.create({ model: 'tiny', input: 'x', conversation: talk.id, previous_response_id: got.id }), OpenAI.BadRequestError)
  assert.equal((await c.conversations.delete(talk.id)).deleted, true)
  await assert.rejects(c.conversations.retrieve(talk.id), OpenAI.NotFoundError)
})

test("Agents SDK's session is a conversation", async () => {
  setTracingDisabled(true)
  const client = new OpenAI({ baseURL: `${hello}/v1`, apiKey: 'none', maxRetries: 0 })
  const session = new OpenAIConversationsSession({ client })
  const runner = new Runner({ modelProvider: new OpenAIProvider({ openAIClient: client, useResponses: true }) })
  const agent = new Agent({ name: 'a', instructions: 'Be brief.', model: 'tiny', modelSettings: { temperature: 0 } })
  for (const input of ['a', 'b']) assert.equal((await runner.run(agent, input, { session })).finalOutput, greeting)
  assert.deepEqual((await session.getItems()).map((item) => item.role), ['user', 'assistant', 'user', 'assistant'])
  await session.popItem()
  assert.equal((await session.getItems()).length, 3)
  await session.clearSession()
})

test("AI SDK's second turn refers to the first", async () => {
  const model = createOpenAI({ baseURL: `${hello}/v1`, apiKey: 'none' })('tiny')
  const first = await generateText({ model, messages: text('a'), temperature: 0 })
  const second = await generateText({ model, messages: [...text('a'), ...first.response.messages, ...text('b')], temperature: 0 })
  assert.equal(second.text, greeting)
  const stream = streamText({ model, messages: [...text('a'), ...first.response.messages, ...text('b')], temperature: 0 })
  let streamed = ''
  for await (const part of stream.textStream) streamed += part
  const third = await generateText({ model, messages: [...text('a'), ...(await stream.response).messages, ...text('c')], temperature: 0 })
  assert.equal(streamed, greeting)
  assert.equal(third.text, greeting)
})

test("Agents SDK's runs go on", async () => {
  setTracingDisabled(true)
  const runner = new Runner({ modelProvider: new OpenAIProvider({ baseURL: `${hello}/v1`, apiKey: 'none', useResponses: true }) })
  const agent = new Agent({ name: 'a', instructions: 'Be brief.', model: 'tiny', modelSettings: { temperature: 0, truncation: 'auto' } })
  const first = await runner.run(agent, 'a')
  const second = await runner.run(agent, 'b', { previousResponseId: first.lastResponseId })
  assert.equal(second.finalOutput, greeting)
  const whole = await runner.run(agent, [...first.history, ...text('b')])
  assert.equal(whole.finalOutput, greeting)
  assert.equal(whole.rawResponses[0].usage.inputTokens, second.rawResponses[0].usage.inputTokens)
})

// The runner keeps its conversation on the server until it hears that it can't.
test('toolRunner keeps its history', async () => {
  const c = new Anthropic({ baseURL: answering, apiKey: 'none', maxRetries: 0 })
  let calls = 0
  const save = betaTool({ name: 'save', description: 'Save a person.', inputSchema: jsonSchema, run: () => { calls++; return 'saved' } })
  for (const stream of [false, true]) {
    calls = 0
    const runner = c.beta.messages.toolRunner({ model: 'tiny', max_tokens: 200, messages: text('Make up a person.'), tools: [save], max_iterations: 3, stream })
    const final = await runner.runUntilDone()
    assert.equal(calls, 1)
    assert.equal(final.content.at(-1).text, 'done: saved')
  }
})

test('tools of an MCP server without arguments', async () => {
  const client = { callTool: async () => ({ content: [{ type: 'text', text: 'pong' }] }) }
  const tools = mcpTools([{ name: 'save', description: 'd', inputSchema: { type: 'object' } }], client)
  assert.equal(tools[0].input_schema.required, null) // or there is nothing to be tested
  const got = await new Anthropic({ baseURL: caller, apiKey: 'none', maxRetries: 0 }).messages.create({
    model: 'tiny', max_tokens: 40, messages: text('x'), tools,
  })
  assert.ok(got.stop_reason)
})
