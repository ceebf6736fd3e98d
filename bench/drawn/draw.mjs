// Draws documents from schemas, and judges documents by schemas, with JavaScript's libraries.
//
//	node draw.mjs draw COUNT <schemas.jsonl >documents.jsonl     json-schema-faker
//	node draw.mjs judge schemas.jsonl <documents.jsonl >judged.jsonl    ajv
//
// A line of schemas is {"id", "draft", "schema"}; of documents {"id", "by", "text"}, to which judging adds "ajv": "" for valid,
// what is wrong, or null where that can't be told. A schema runs in a worker, which a time limit ends.

import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Worker, isMainThread, parentPort } from 'node:worker_threads'

const milliseconds = 20000
const longest = 4000 // of a document, characters
const modules = process.env.DRAWN_MODULES ?? '.'
const require = createRequire(join(modules, '/'))

if (isMainThread) {
  await main(process.argv[2], process.argv[3])
} else {
  const { generateSync } = await import(pathToFileURL(join(modules, 'node_modules/json-schema-faker/dist/index.js')))
  parentPort.on('message', ({ what, one, argument }) => {
    const send = (line) => parentPort.postMessage(line)
    try {
      if (what === 'draw') draw(generateSync, one, argument, send)
      else judge(one, argument, send)
    } catch (error) {
      console.error(`${one.id}: ${String(error).slice(0, 200)}`)
    }
    send(null)
  })
}

function draw(generateSync, { id, draft, schema }, count, send) {
  const drawn = new Set()
  for (let seed = 1; seed <= 2 * count && drawn.size < count; seed++) {
    const options = { seed, optionalsProbability: seed % 3 / 2, validateSchemaVersion: false }
    let text
    try {
      text = JSON.stringify(generateSync(structuredClone(schema), options))
    } catch (error) {
      console.error(`${id}: ${String(error).slice(0, 200)}`)
      return
    }
    if (text === undefined || text.length > longest || drawn.has(text)) continue
    drawn.add(text)
    send({ id, by: 'json-schema-faker', text })
  }
}

function judge({ id, draft, schema }, documents, send) {
  const Ajv = require({
    'draft-04': 'ajv-draft-04', 'draft-06': 'ajv', 'draft-07': 'ajv', '2019-09': 'ajv/dist/2019', '2020-12': 'ajv/dist/2020',
  }[draft]).default
  if (schema && typeof schema === 'object') delete schema.$async // ajv's own: it would answer with a promise
  let valid = null
  for (const unicodeRegExp of [true, false]) {
    const ajv = new Ajv({ strict: false, logger: false, validateFormats: true, unicodeRegExp })
    require('ajv-formats').default(ajv)
    if (draft === 'draft-06') ajv.addMetaSchema(require('ajv/dist/refs/json-schema-draft-06.json'))
    try {
      valid = ajv.compile(schema)
      break
    } catch (error) {
      // A pattern that isn't one with Unicode, a reference to another document, a broken rule of the metaschema.
    }
  }
  for (const document of documents) {
    let verdict = null
    // Longer numbers aren't what JSON.parse makes of them.
    if (valid && !/\d{16}|[eE][-+]?\d{3}/.test(document.text.replace(/"(?:[^"\\]|\\.)*"/g, '""'))) {
      verdict = ''
      if (!valid(JSON.parse(document.text))) {
        const [{ instancePath, keyword, params, message }] = valid.errors
        verdict = `${keyword} at ${instancePath}: ${message} ${JSON.stringify(params)}`.slice(0, 300)
      }
    }
    send({ ...document, ajv: verdict })
  }
}

async function main(what, argument) {
  let worker, receive
  function start() {
    worker = new Worker(fileURLToPath(import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: 3000 } })
    worker.on('message', (line) => receive(line))
    worker.on('error', (error) => {
      console.error(String(error).slice(0, 200))
      worker = null
      receive(null)
    })
  }
  // within prints what a worker makes of one schema until its time is up, and returns how many lines that are.
  async function within(one, argument) {
    if (!worker) start()
    let lines = 0
    await new Promise((resolve) => {
      const timer = setTimeout(() => {
        console.error(`${one.id}: time is up`)
        receive = () => {}
        worker.terminate()
        worker = null
        resolve()
      }, milliseconds)
      receive = (line) => {
        if (line) {
          lines++
          console.log(JSON.stringify(line))
          return
        }
        clearTimeout(timer)
        resolve()
      }
      worker.postMessage({ what, one, argument })
    })
    return lines
  }
  const input = createInterface({ input: process.stdin })
  if (what === 'draw') {
    for await (const line of input) await within(JSON.parse(line), Number(argument))
  } else {
    const documents = new Map()
    for await (const line of input) {
      const document = JSON.parse(line)
      if (!documents.has(document.id)) documents.set(document.id, [])
      documents.get(document.id).push(document)
    }
    for (const line of readFileSync(argument, 'utf8').split('\n').filter(Boolean)) {
      const one = JSON.parse(line)
      const list = documents.get(one.id)
      if (!list) continue
      const judged = await within(one, list)
      for (const document of list.slice(judged)) console.log(JSON.stringify({ ...document, ajv: null }))
    }
  }
  await worker?.terminate()
}
