// What the tests of all clients share. The servers' addresses come from the Go
// test that starts them: one whose model writes at random, one that says hello,
// one that calls the tool save, one that thinks first.
import { z } from 'zod'

const address = (name) => {
  const url = process.env[name]
  if (!url) throw new Error(`${name} is not set: run these tests through go test ./server/clients`)
  return url
}

export const random = address('STENCIL_RANDOM')
export const hello = address('STENCIL_HELLO')
export const caller = address('STENCIL_CALLER')
export const thinker = address('STENCIL_THINKER')

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

export const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Make up a person.' },
]
