import assert from 'node:assert/strict'
import test from 'node:test'
import Instructor from '@instructor-ai/instructor'
import OpenAI from 'openai'
import { z } from 'zod/v3'
import { messages, random } from './shared.mjs'

// The client knows no other schemas than those of zod 3.
const Person = z.object({
  name: z.string().regex(/^[a-z]*$/).max(8),
  age: z.number().int().min(1).max(120),
  plan: z.enum(['free', 'pro']),
})

for (const mode of ['TOOLS', 'JSON_SCHEMA']) {
  test(`mode ${mode}`, async () => {
    const client = Instructor({ client: new OpenAI({ baseURL: `${random}/v1`, apiKey: 'none' }), mode })
    const body = { model: 'tiny', messages, max_tokens: 200, response_model: { schema: Person, name: 'Person' }, max_retries: 0 }
    Person.parse(await client.chat.completions.create(body))
    let last
    for await (const part of await client.chat.completions.create({ ...body, stream: true })) last = part
    assert.equal(typeof last.name, 'string')
  })
}

test('mode JSON gets an object', async () => {
  const client = Instructor({ client: new OpenAI({ baseURL: `${random}/v1`, apiKey: 'none' }), mode: 'JSON' })
  const body = { model: 'tiny', messages, max_tokens: 60, response_model: { schema: Person.partial().passthrough(), name: 'Person' }, max_retries: 0 }
  assert.equal(typeof (await client.chat.completions.create(body)), 'object')
})
