// The Vercel AI SDK: an object as zod describes it. supportsStructuredOutputs has it send the schema.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, Output } from 'ai'
import { z } from 'zod'

const baseURL = `${process.env.STENCIL_URL ?? 'http://127.0.0.1:8080'}/v1`
const stencil = createOpenAICompatible({ name: 'stencil', baseURL, supportsStructuredOutputs: true })
const { output } = await generateText({
  model: stencil('stencil'), temperature: 0, prompt: 'Maria Lopez, 34, lives in Bergen.',
  output: Output.object({ schema: z.object({ name: z.string(), age: z.number().int() }) }),
})
console.log(JSON.stringify(output))
