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
import { answering, caller, greeting, hello, jsonSchema } from './shared.mjs'

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
