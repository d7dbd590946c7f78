import { z } from 'zod'
import { visibilities } from '#kit'

export const strategies = ['window', 'summary', 'none'] as const

/** A message waits for its answer, was answered, was cut off with its client, or got no answer. */
export const messageStatuses = ['pending', 'complete', 'partial', 'failed'] as const

export const memory = z.strictObject({
  strategy: z.enum(strategies).default('window').meta({
    description:
      'What the model gets of earlier messages: the newest that fit, a summary of the older ones as well, or none.',
  }),
  max_tokens: z.int().min(100).max(1_000_000).default(8000).meta({
    description: 'Tokens of earlier messages that the model gets, estimated.',
  }),
})

/** A session as it is stored. */
export const sessionRow = z.object({
  id: z.string(),
  user_id: z.string().optional(),
  tenant: z.string().optional(),
  /** Private without it. */
  visibility: z.enum(visibilities).optional(),
  name: z.string(),
  model: z.string(),
  provider: z.string().optional(),
  memory,
  /** JSON of a `SessionBody`, sealed where that is asked for. */
  body: z.string(),
  /** JSON of a `Summary`, likewise. */
  summary: z.string().optional(),
  message_count: z.int(),
  token_count: z.int(),
  cost_nano: z.int(),
  created_at: z.string(),
  updated_at: z.string(),
  last_message_at: z.string().optional(),
})
export type SessionRow = z.infer<typeof sessionRow>

/** What a session says that is sealed. */
export interface SessionBody {
  readonly system_prompt?: string | undefined
  readonly params?: Readonly<Record<string, unknown>> | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

/** What stands in place of the messages before and with `upTo`. */
export interface Summary {
  readonly text: string
  readonly upTo: number
}

export const messageRow = z.object({
  id: z.string(),
  session: z.string(),
  /** From 1, without gaps. */
  seq: z.int(),
  role: z.enum(['user', 'assistant']),
  status: z.enum(messageStatuses),
  /** JSON of the content, sealed where that is asked for. */
  content: z.string(),
  /** Estimated, for the memory. */
  size: z.int(),
  model: z.string().optional(),
  finish_reason: z.string().optional(),
  tokens_in: z.int(),
  tokens_out: z.int(),
  cost_nano: z.int(),
  trace_id: z.string().optional(),
  created_at: z.string(),
})
export type MessageRow = z.infer<typeof messageRow>
