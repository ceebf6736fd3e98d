// Client of stencil, a local inference server for structured output. index.d.ts has the types and the documentation.

const draft = { target: 'draft-2020-12' }

// schemaOf returns the JSON Schema that is sent for a kind: that of a zod schema (or any other that has one by the
// Standard JSON Schema), or the kind itself.
function schemaOf(kind) {
  const standard = kind?.['~standard']
  if (!standard) return kind ?? undefined
  if (!standard.jsonSchema) throw new TypeError(`stencil: schemas of ${standard.vendor} say no JSON Schema in this version (zod: 4.2 or newer)`)
  return standard.jsonSchema.input(draft)
}

async function parse(kind, document) {
  const standard = kind?.['~standard']
  if (!standard) return document
  const result = await standard.validate(document)
  if (result.issues) throw new TypeError(`stencil: the document fits the JSON Schema and not the type: ${JSON.stringify(result.issues)}`)
  return result.value
}

const sleep = (ms, signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, ms)
  signal?.addEventListener('abort', () => { clearTimeout(timer); reject(signal.reason) }, { once: true })
})

export class StencilError extends Error {
  constructor(body, status) {
    super(`${body.code ?? 'unknown'}: ${body.message}`)
    this.name = 'StencilError'
    Object.assign(this, { status, code: body.code ?? 'unknown', param: body.param ?? null, details: body.details ?? [], minimum: body.minimum ?? 0 })
  }
}

async function errorOf(answer) {
  const text = await answer.text()
  try {
    const { error } = JSON.parse(text)
    if (error?.message) return new StencilError(error, answer.status)
  } catch {}
  return new StencilError({ message: text || answer.statusText }, answer.status)
}

// waitOf returns the milliseconds after which a refused request may be sent again, or undefined.
function waitOf(answer) {
  if (![429, 503].includes(answer.status) || answer.headers.get('x-should-retry') === 'false') return undefined
  const seconds = Number(answer.headers.get('retry-after') ?? 1)
  return 1000 * (seconds >= 0 ? Math.min(seconds, 60) : 1)
}

export class Client {
  #url; #headers; #model; #retries; #fetch

  constructor(url = 'http://127.0.0.1:8080', { model, apiKey, retries = 2, fetch: fetcher = fetch } = {}) {
    this.#url = url.replace(/\/+$/, '')
    this.#headers = { 'Content-Type': 'application/json', ...(apiKey ? { Authorization: `Bearer ${apiKey}` } : {}) }
    this.#model = model
    this.#retries = retries
    this.#fetch = fetcher
  }

  #body(prompt, { signal, ...options }) {
    return { ...(this.#model ? { model: this.#model } : {}), ...(typeof prompt === 'string' ? { prompt } : { messages: prompt }), ...options }
  }

  async #send(path, body, signal) {
    for (let left = this.#retries; ; left--) {
      const answer = await this.#fetch(this.#url + path, { method: 'POST', headers: this.#headers, body: JSON.stringify(body), signal })
      if (answer.ok) return answer
      const wait = waitOf(answer)
      const error = await errorOf(answer)
      if (wait === undefined || left <= 0) throw error
      await sleep(wait, signal)
    }
  }

  async #post(path, body, signal) {
    return (await this.#send(path, body, signal)).json()
  }

  async #answer({ json, constraint, ...rest }, kind) {
    return { ...rest, value: await parse(kind, json), receipt: constraint }
  }

  async generate(prompt, options = {}) {
    const { json, constraint, ...rest } = await this.#post('/generate', this.#body(prompt, options), options.signal)
    return { ...rest, value: rest.text, receipt: constraint }
  }

  async generateJSON(kind, prompt, options = {}) {
    const body = { ...this.#body(prompt, options), schema: schemaOf(kind) }
    return this.#answer(await this.#post('/generate_json', body, options.signal), kind)
  }

  async * streamJSON(kind, prompt, options = {}) {
    const body = { ...this.#body(prompt, options), schema: schemaOf(kind), stream: true }
    const answer = await this.#send('/generate_json', body, options.signal)
    const decoder = new TextDecoder()
    let rest = '', event = '', done = false
    for await (const part of answer.body) {
      const lines = (rest + decoder.decode(part, { stream: true })).split('\n')
      rest = lines.pop()
      for (const line of lines) {
        if (line.startsWith('event: ')) event = line.slice(7)
        if (!line.startsWith('data: ')) continue
        const data = JSON.parse(line.slice(6))
        if (event === 'error') throw new StencilError(data.error, 0)
        if (event === 'token') yield { type: 'token', text: data.text }
        if (event === 'field') yield { type: 'field', pointer: data.pointer, value: data.value, confidence: data.confidence }
        if (event === 'done') {
          done = true
          yield { type: 'done', answer: await this.#answer(data, kind) }
        }
      }
    }
    if (!done) throw new StencilError({ message: 'the stream ended before the answer did' }, 0)
  }

  check(kind) {
    return this.#post('/schema/check', { schema: schemaOf(kind) })
  }

  validate(kind, text) {
    return this.#post('/validate', { schema: schemaOf(kind), text })
  }

  async decide(text, question, choices) {
    const questions = [{ type: 'choice', name: 'choice', instructions: question, choices: choices.map((value) => ({ value })) }]
    const { answers } = await this.#post('/decide', { ...(this.#model ? { model: this.#model } : {}), input: text, questions })
    return Object.fromEntries(answers[0].probabilities.map(({ value, probability }) => [value, probability]))
  }
}
