// What the tests of all clients share. The servers' addresses come from the Go
// test that starts them: one whose model writes at random, one that says hello,
// one that calls the tool save, one that also answers when it has, one that thinks
// first, one that gives embeddings of 8 numbers.
import { z } from 'zod'

const address = (name) => {
  const url = process.env[name]
  if (!url) throw new Error(`${name} is not set: run these tests through go test ./server/clients`)
  return url
}

export const random = address('STENCIL_RANDOM')
export const hello = address('STENCIL_HELLO')
export const caller = address('STENCIL_CALLER')
export const answering = address('STENCIL_ANSWERING')
export const thinker = address('STENCIL_THINKER')
export const embedder = address('STENCIL_EMBEDDER')

export const greeting = 'hello wörld'

// Letters only: zod counts UTF-16 units where JSON Schema counts characters.
export const Person = z.object({
  name: z.string().regex(/^[a-z]*$/).max(8),
  age: z.number().int().min(1).max(120),
  plan: z.enum(['free', 'pro']),
})

// jsonSchema is the same as Person.
export const jsonSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', pattern: '^[a-z]*$', maxLength: 8 },
    age: { type: 'integer', minimum: 1, maximum: 120 },
    plan: { enum: ['free', 'pro'] },
  },
  required: ['name', 'age', 'plan'],
  additionalProperties: false,
}

export const animals = ['the cat', 'the dog', 'the cat']

// isUnit reports whether a vector has n numbers and length 1.
export const isUnit = (row, n) => row.length === n && Math.abs(row.reduce((sum, x) => sum + x * x, 0) - 1) < 1e-5

export const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Make up a person.' },
]
