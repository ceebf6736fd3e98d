// Claude Flow: an agent of a swarm, whose text a model at stencil writes, and a document made of that text.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const url = process.env.STENCIL_URL ?? 'http://127.0.0.1:8080'

// Claude Flow keeps its state in the working and the home folder. Here both are a folder of its own, and nothing goes on in the
// background.
const folder = mkdtempSync(join(tmpdir(), 'claude-flow-'))
const transport = new StdioClientTransport({
  command: process.execPath,
  args: [join(dirname(fileURLToPath(import.meta.url)), 'node_modules', 'claude-flow', 'bin', 'cli.js'), 'mcp', 'start'],
  cwd: folder,
  stderr: 'ignore',
  env: {
    PATH: process.env.PATH, HOME: folder, RUFLO_DAEMON_AUTOSTART: '0', CLAUDE_FLOW_AUTO_UPDATE: 'false',
    RUFLO_PROVIDER: 'ollama', OLLAMA_BASE_URL: url, // agents ask /v1/chat/completions there
  },
})
const flow = new Client({ name: 'example', version: '1' })
await flow.connect(transport)
const call = async (name, args) => {
  const got = JSON.parse((await flow.callTool({ name, arguments: args })).content[0].text)
  if (got.success === false) throw new Error(`${name}: ${got.error}`)
  return got
}
await call('swarm_init', { topology: 'hierarchical', maxAgents: 2 })
const clerk = await call('agent_spawn', { agentType: 'clerk', model: 'ollama:stencil' })
const answer = await call('agent_execute', {
  agentId: clerk.agentId, maxTokens: 80, temperature: 0, systemPrompt: 'Repeat what is told in one sentence.',
  prompt: 'Maria Lopez, 34, lives in Bergen.',
})
console.log(`${answer.model} wrote ${answer.usage.outputTokens} tokens: ${answer.output}`)
await flow.close()
rmSync(folder, { recursive: true, force: true })

// Claude Flow asks for texts alone, so the document is asked for here.
const response = await fetch(url + '/generate_json', {
  method: 'POST',
  body: JSON.stringify({
    messages: [{ role: 'user', content: answer.output }], temperature: 0, max_tokens: 80,
    schema: {
      type: 'object', properties: { name: { type: 'string', maxLength: 40 }, age: { type: 'integer', minimum: 0, maximum: 120 } },
      required: ['name', 'age'], additionalProperties: false,
    },
  }),
})
if (!response.ok) throw new Error(await response.text())
console.log((await response.json()).text)
