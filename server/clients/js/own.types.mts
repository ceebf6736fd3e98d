// Compiled, and not run: the types of clients/typescript, as programs use them.
import { z } from 'zod'
import { Client, StencilError, type Answer, type Receipt } from '../../../clients/typescript/index.js'

const Person = z.object({ name: z.string().max(8), age: z.number().int(), plan: z.enum(['free', 'pro']) })
const client = new Client('http://127.0.0.1:8080', { model: 'm', apiKey: 'k', retries: 0 })

export async function use(): Promise<Receipt | undefined> {
  const answer: Answer<z.infer<typeof Person>> = await client.generateJSON(Person, 'x', { temperature: 0, whitespace: { max: 3 } })
  const plan: 'free' | 'pro' = answer.value.plan
  // @ts-expect-error: age is a number
  const age: string = answer.value.age
  const raw = await client.generateJSON<{ a: number }>({ type: 'object' }, [{ role: 'user', content: plan + age }])
  const a: number = raw.value.a
  for await (const event of client.streamJSON(Person, 'x')) {
    if (event.type === 'done') a.toFixed(event.answer.value.age)
    // @ts-expect-error: only tokens have a text
    if (event.type === 'field') event.text
  }
  try {
    const probability: number = (await client.decide('x', 'y', ['a', 'b'])).a ?? 0
    return probability > 0.5 && (await client.check(Person)).ok ? answer.receipt : undefined
  } catch (error) {
    if (error instanceof StencilError && error.code === 'queue_full') return undefined
    throw error
  }
}
