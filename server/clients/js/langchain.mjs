import assert from 'node:assert/strict'
import test from 'node:test'
import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai'
import { Person, animals, caller, embedder, greeting, hello, isUnit, random } from './shared.mjs'

const llm = (url, more) =>
  new ChatOpenAI({ model: 'tiny', apiKey: 'none', maxRetries: 0, maxTokens: 200, configuration: { baseURL: `${url}/v1` }, ...more })

test('invoke and stream', async () => {
  const model = llm(hello, { temperature: 0 })
  assert.equal((await model.invoke('hi')).content, greeting)
  let text = ''
  for await (const chunk of await model.stream('hi')) text += chunk.content
  assert.equal(text, greeting)
})

for (const method of ['jsonSchema', 'functionCalling']) {
  test(`withStructuredOutput, ${method}`, async () => {
    Person.parse(await llm(random).withStructuredOutput(Person, { name: 'person', method, strict: true }).invoke('Make up a person.'))
  })
}

test('withStructuredOutput, jsonMode', async () => {
  const got = await llm(random).withStructuredOutput({ type: 'object' }, { name: 'person', method: 'jsonMode' }).invoke('Make up a person, in JSON.')
  assert.equal(typeof got, 'object')
})

test('tools', async () => {
  const save = tool(async () => 'saved', { name: 'save', description: 'Save a person.', schema: Person })
  const model = llm(caller, { temperature: 0 }).bindTools([save])
  const question = new HumanMessage('Make up a person.')
  const got = await model.invoke([question])
  assert.equal(got.tool_calls.length, 1)
  Person.parse(got.tool_calls[0].args)
  const answer = await save.invoke(got.tool_calls[0])
  assert.ok(answer instanceof ToolMessage)
  await model.invoke([question, got, answer])
})

test('embeddings', async () => {
  const c = new OpenAIEmbeddings({ model: 'tiny', apiKey: 'none', maxRetries: 0, configuration: { baseURL: `${embedder}/v1` } })
  const rows = await c.embedDocuments(animals)
  assert.ok(isUnit(rows[1], 8))
  assert.deepEqual(rows[0], rows[2])
  assert.deepEqual(await c.embedQuery('the cat'), rows[0])
})
