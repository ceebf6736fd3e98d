import assert from 'node:assert/strict'
import test from 'node:test'
import Ajv from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { z } from 'zod'
import { random } from './shared.mjs'

// A model that writes anything at all writes strings that these validators take.
const formats = {
  email: z.email(),
  uri: z.url(),
  'date-time': z.iso.datetime({ offset: true }),
  date: z.iso.date(),
  duration: z.iso.duration(),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  hostname: z.hostname(),
  time: z.string(),
  'uri-template': z.string(),
}

test('formats', async () => {
  const schema = {
    type: 'object',
    properties: Object.fromEntries(Object.keys(formats).map((format) => [format, { type: 'string', format, maxLength: 60 }])),
    required: Object.keys(formats),
  }
  const ajv = new Ajv.default()
  addFormats.default(ajv)
  const fits = ajv.compile(schema)
  for (let seed = 1; seed <= 20; seed++) {
    const response = await fetch(`${random}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'tiny', seed, temperature: 1.5, max_tokens: 600,
        messages: [{ role: 'user', content: 'Where?' }],
        response_format: { type: 'json_schema', json_schema: { name: 'd', schema } },
      }),
    })
    const body = await response.json()
    assert.equal(response.status, 200, JSON.stringify(body))
    const document = JSON.parse(body.choices[0].message.content)
    assert.ok(fits(document), `${JSON.stringify(document)} ${JSON.stringify(fits.errors)}`)
    for (const [name, type] of Object.entries(formats)) {
      assert.ok(type.safeParse(document[name]).success, `${name}: ${document[name]}`)
    }
  }
})
