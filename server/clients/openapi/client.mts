// A program on types that openapi-typescript makes of docs/reference/openapi.json, as api.d.ts: compiled and run by make openapi-test.
import createClient from 'openapi-fetch'
import type { components, paths } from './api.js'

declare const process: { argv: string[] }
const client = createClient<paths>({ baseUrl: process.argv[2] })
const schema = { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer' } }, required: ['name', 'age'], additionalProperties: false }

const { data, error } = await client.POST('/generate_json', { body: { prompt: 'Maria Lopez, 34, lives in Bergen.', schema, max_tokens: 40, temperature: 0 } })
if (error) throw new Error(error.error.message)
if (typeof data === 'string') throw new Error('a stream, which nobody asked for')
const receipt: components['schemas']['Receipt'] | undefined = data.constraint
console.log(JSON.stringify(data.json), receipt?.validated)

const chat = await client.POST('/v1/chat/completions', {
  body: {
    messages: [{ role: 'user', content: 'Maria Lopez, 34, lives in Bergen.' }], temperature: 0, max_tokens: 40,
    response_format: { type: 'json_schema', json_schema: { name: 'person', schema } },
  },
})
if (typeof chat.data === 'object') console.log(chat.data.choices[0].message.content)

// What isn't allowed is answered by an error, whose type is known too.
const bad = await client.POST('/generate_json', { body: { prompt: 'x', schema: { type: 'objct' } } })
console.log(bad.response.status, bad.error?.error.code, bad.error?.error.details?.[0].pointer)

// @ts-expect-error: no such path
client.POST('/generate_jsn', { body: {} })
// @ts-expect-error: the budget is a number
const body: components['schemas']['Generate'] = { prompt: 'x', max_tokens: 'many' }
