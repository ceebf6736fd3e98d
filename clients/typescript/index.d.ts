/** A turn of a conversation. */
export interface Message { role: string; content: unknown }

/**
 * A schema of zod (4.2 or newer), or of any other library that has the Standard JSON Schema.
 */
export interface StandardSchema<T> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => unknown
    readonly types?: { readonly input: unknown; readonly output: T } | undefined
  }
}

/** A JSON Schema as it is. */
export type JSONSchema = boolean | { readonly [keyword: string]: unknown }

/** Fields of a request; docs/reference/http.md has the others. */
export interface Options {
  max_tokens?: number
  temperature?: number
  top_p?: number
  seed?: number
  stop?: string[]
  system?: string
  regex?: string
  choice?: string[]
  grammar?: string | { builtin: string; [parameter: string]: unknown }
  whitespace?: 'natural' | 'compact' | 'pretty' | 'flexible' | { max: number }
  on_unsupported?: 'error' | 'validate' | 'ignore'
  /** Ends the request. */
  signal?: AbortSignal
  [field: string]: unknown
}

/** One thing that is wrong with a schema, a grammar or a document, or that was not enforced. */
export interface Detail { pointer: string; keyword?: string; reason: string; hint?: string; line?: number; column?: number }

/** What of a constraint was enforced, and how. */
export interface Receipt {
  type: 'schema' | 'json' | 'grammar' | 'regex' | 'choice' | 'tools' | 'structural_tag'
  hash: string
  /** Keywords that masks enforced. */
  enforced: string[]
  /** Keywords that were only validated afterwards, and why. */
  checked: Detail[]
  ignored: Detail[]
  /** An independent validator accepts the document. */
  validated: boolean
  forced_tokens: number
  tokens_saved: number
  /** The document was completed because the budget ran out; shortened has JSON pointers of what was cut short. */
  budget_closed: boolean
  shortened: string[]
  tries: number
  /** The share of probability, 0 to 1, that masks took from the model. */
  pressure: { mean: number; max: number; at: string }
}

/** What is known of a value in a document; alternatives only of enums and booleans. */
export interface Field { confidence: number; alternatives?: Record<string, number> }

/** A generated text; value is the document in it. */
export interface Answer<T> {
  value: T
  model: string
  text: string
  finish_reason: string
  seed: number
  /** Absent without a constraint. */
  receipt?: Receipt
  /** By JSON pointer. */
  fields?: Record<string, Field>
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number }
  /** Such as options that the server does not know. */
  warnings?: string[]
}

/** A part of a streamed answer. A field is a value that is complete; the pointer "" is the whole document. */
export type Event<T> =
  | { type: 'token'; text: string }
  | { type: 'field'; pointer: string; value: unknown; confidence?: number }
  | { type: 'done'; answer: Answer<T> }

/** What the server makes of a schema. */
export interface Check { ok: boolean; errors: Detail[]; warnings: unknown[]; enforced: string[]; checked: Detail[]; shortest?: unknown }

/** Whether a text fits a schema; incomplete: it is the beginning of one that could. */
export interface Validation { valid: boolean; errors: Detail[]; incomplete: boolean }

/** A refusal by the server; code is one of docs/reference/errors.md. status is 0 if it came in a stream. */
export class StencilError extends Error {
  readonly status: number
  readonly code: string
  readonly param: string | null
  readonly details: Detail[]
  /** Of budget_too_small: the max_tokens that would do. */
  readonly minimum: number
}

/** A server. A request that it has no room for (429, 503) is sent again, as Retry-After says. */
export class Client {
  /** url is the server's address without a path; model is named in requests (default: the server's first). */
  constructor(url?: string, options?: { model?: string; apiKey?: string; retries?: number; fetch?: typeof fetch })
  /** A text: free, or constrained by regex, choice or grammar. */
  generate(prompt: string | Message[], options?: Options): Promise<Answer<string>>
  /** A document that fits a schema of zod or a JSON Schema; null: any JSON. */
  generateJSON<T>(kind: StandardSchema<T>, prompt: string | Message[], options?: Options): Promise<Answer<T>>
  generateJSON<T = unknown>(kind: JSONSchema | null, prompt: string | Message[], options?: Options): Promise<Answer<T>>
  /** generateJSON in parts. Leaving the loop ends the request. */
  streamJSON<T>(kind: StandardSchema<T>, prompt: string | Message[], options?: Options): AsyncGenerator<Event<T>>
  streamJSON<T = unknown>(kind: JSONSchema | null, prompt: string | Message[], options?: Options): AsyncGenerator<Event<T>>
  /** What is wrong with a schema, or what would be enforced of it. */
  check(kind: StandardSchema<unknown> | JSONSchema): Promise<Check>
  /** Whether a text is a document that fits a schema. */
  validate(kind: StandardSchema<unknown> | JSONSchema, text: string): Promise<Validation>
  /** The probability of each choice as the answer to a question about a text. Nothing is generated. */
  decide(text: string, question: string, choices: string[]): Promise<Record<string, number>>
}
