import assert from 'node:assert/strict'
import test from 'node:test'
import OpenAI from 'openai'
import { random } from './shared.mjs'

const client = new OpenAI({ baseURL: `${random}/v1`, apiKey: 'none' })
const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a}, ${b}`)

test('decisions', async () => {
  const got = await client.decisions.create({
    model: 'tiny',
    input: [
      { role: 'developer', content: 'Be fair.' },
      { role: 'user', content: [{ type: 'input_text', text: 'I was charged twice.' }, { type: 'input_json', data: { order: 7 } }] },
    ],
    questions: [
      { type: 'predicate', name: 'angry', instructions: 'The customer is angry.' },
      { type: 'choice', instructions: 'Which team?', choices: [{ value: 'billing' }, { value: 'shipping', description: 'parcels' }, { value: true }] },
      { type: 'score', name: 'urgency', instructions: [{ type: 'input_text', text: 'How urgent?' }], levels: [{ label: 'low' }, { label: 'high' }] },
    ],
  })
  assert.equal(got.model, 'tiny')
  const [predicate, choice, score] = got.answers
  assert.equal(predicate.type, 'predicate')
  assert.equal(predicate.name, 'angry')
  assert.ok(predicate.probability > 0 && predicate.probability < 1)
  assert.equal(choice.name, null)
  assert.deepEqual(choice.probabilities.map((p) => p.value), ['billing', 'shipping', true])
  near(choice.probabilities.reduce((sum, p) => sum + p.probability, 0), 1)
  const best = choice.probabilities.reduce((a, b) => (b.probability > a.probability ? b : a))
  assert.equal(choice.choice, best.value)
  near(score.score, score.probabilities[1].probability)
  assert.ok(score.confidence >= 0 && score.confidence <= 1)
  assert.equal(got.usage.output_tokens, 0)
  assert.equal(got.usage.total_tokens, got.usage.input_tokens)
  assert.equal(got.usage.input_tokens_details.cache_write_tokens, 0)
  assert.equal(got.usage.output_tokens_details.reasoning_tokens, 0)
})

test('a mistake is an error of its class', async () => {
  await assert.rejects(client.decisions.create({ model: 'tiny', input: 'x', questions: [] }), (err) => err instanceof OpenAI.BadRequestError && err.param === 'questions')
})
