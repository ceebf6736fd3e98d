import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import test from 'node:test'
import { z } from 'zod'
import { Client, StencilError } from '../../../clients/typescript/index.js'
import { Person, jsonSchema, random } from './shared.mjs'

const client = new Client(random + '/')

test('own: documents of zod schemas', async () => {
  for (let seed = 0; seed < 5; seed++) {
    const answer = await client.generateJSON(Person, 'x', { seed, max_tokens: 60 })
    Person.parse(answer.value)
    assert.equal(answer.receipt.type, 'schema')
    assert.equal(answer.receipt.validated, true)
    assert.ok(answer.receipt.enforced.includes('pattern'))
    assert.deepEqual(Object.keys(answer.fields['/plan'].alternatives).sort(), ['free', 'pro'])
    assert.equal(answer.seed, seed)
  }
  const { value } = await client.generateJSON(z.array(z.boolean()), [{ role: 'user', content: 'x' }], { max_tokens: 20 })
  assert.ok(value.every((one) => typeof one === 'boolean'))
})

test('own: documents of JSON Schemas', async () => {
  const answer = await client.generateJSON({ const: { z: 1, a: 2 } }, 'x', { whitespace: 'compact' })
  assert.equal(answer.text, '{"z":1,"a":2}')
  assert.equal((await client.generateJSON(null, 'x', { max_tokens: 20 })).receipt.type, 'json')
})

test('own: texts', async () => {
  const answer = await client.generate('x', { choice: ['yes', 'no'] })
  assert.ok(['yes', 'no'].includes(answer.value))
  assert.equal((await client.generate('x', { max_tokens: 5 })).receipt, undefined)
})

test('own: streams', async () => {
  let text = '', answer
  const pointers = []
  for await (const event of client.streamJSON(Person, 'x', { seed: 3, max_tokens: 60 })) {
    if (event.type === 'token') text += event.text
    if (event.type === 'field') pointers.push(event.pointer)
    if (event.type === 'done') answer = event.answer
  }
  assert.deepEqual(pointers, ['/name', '/age', '/plan', ''])
  assert.equal(text, answer.text)
  Person.parse(answer.value)
  await assert.rejects(async () => { for await (const _ of client.streamJSON(Person, 'x', { max_tokens: 1 })); }, (error) => error.code === 'budget_too_small' && error.minimum > 1)
})

test('own: errors, checks, decisions', async () => {
  await assert.rejects(client.generateJSON({ type: 'string', maxLenght: 3 }, 'x'), (error) =>
    error instanceof StencilError && error.status === 400 && error.code === 'invalid_schema' && error.details[0].pointer === '/maxLenght')
  assert.equal((await client.check(Person)).ok, true)
  assert.equal((await client.validate(jsonSchema, '{"name": "a", "age": 5, "plan": "pro"}')).valid, true)
  assert.equal((await client.validate(Person, '{"name": "a", "age": 0, "plan": "pro"}')).errors[0].pointer, '/age')
  const probabilities = await client.decide('I was charged twice.', 'Which team?', ['billing', 'shipping'])
  assert.ok(Math.abs(probabilities.billing + probabilities.shipping - 1) < 1e-3)
})

test('own: a request is sent again where the server says so', async () => {
  let asked = 0
  const headers = { 'Retry-After': '0' }
  const busy = createServer((_, answer) => {
    if (++asked < 3) answer.writeHead(429, headers).end('{"error":{"message":"m","type":"t","param":null,"code":"queue_full"}}')
    else answer.end('{"text":"ok"}')
  })
  await new Promise((resolve) => busy.listen(0, '127.0.0.1', resolve))
  try {
    const other = new Client(`http://127.0.0.1:${busy.address().port}`)
    assert.equal((await other.generate('x')).text, 'ok')
    assert.equal(asked, 3)
    asked = 0
    headers['X-Should-Retry'] = 'false'
    await assert.rejects(other.generate('x'), (error) => error.code === 'queue_full')
    assert.equal(asked, 1)
  } finally {
    busy.close()
  }
})
