import { z } from 'zod'
import { type SealedJson, usdOf, visibilities } from '#kit'
import { type MessageRow, memory, messageStatuses, type SessionBody, type SessionRow } from './rows.ts'

const time = z.string().meta({ format: 'date-time' })
const nullable = z.string().nullable()

/** A session in a list. */
export const sessionItem = z.object({
  id: z.string(),
  user_id: nullable,
  visibility: z.enum(visibilities),
  name: z.string(),
  model: z.string(),
  provider: nullable,
  memory,
  message_count: z.int(),
  token_count: z.int().meta({ description: 'Tokens of all calls, in and out.' }),
  cost_usd: z.number(),
  created_at: time,
  updated_at: time,
  last_message_at: time.nullable(),
})

export const sessionDetail = sessionItem.extend({
  system_prompt: nullable,
  params: z.record(z.string(), z.unknown()),
  metadata: z.record(z.string(), z.string()),
})

export const messageItem = z.object({
  id: z.string(),
  role: z.enum(['user', 'assistant']),
  status: z.enum(messageStatuses).meta({
    description:
      'pending: no answer yet; complete; partial: cut off, as the client left or the provider failed; failed: a message without an answer.',
  }),
  content: z.unknown().meta({ description: 'A text or parts; null where it cannot be read any more.' }),
  model: nullable,
  finish_reason: nullable,
  tokens_in: z.int(),
  tokens_out: z.int(),
  cost_usd: z.number(),
  trace_id: nullable,
  created_at: time,
})

export const shownSession = (row: SessionRow): z.infer<typeof sessionItem> => ({
  id: row.id,
  user_id: row.user_id ?? null,
  visibility: row.visibility ?? 'private',
  name: row.name,
  model: row.model,
  provider: row.provider ?? null,
  memory: row.memory,
  message_count: row.message_count,
  token_count: row.token_count,
  cost_usd: usdOf(row.cost_nano),
  created_at: row.created_at,
  updated_at: row.updated_at,
  last_message_at: row.last_message_at ?? null,
})

export const sessionDetailOf = async (
  json: SealedJson,
  row: SessionRow,
): Promise<z.infer<typeof sessionDetail>> => {
  const { system_prompt, params, metadata } = ((await json.read(row.body))?.value ?? {}) as SessionBody
  return {
    ...shownSession(row),
    system_prompt: system_prompt ?? null,
    params: { ...params },
    metadata: { ...metadata },
  }
}

export const shownMessage = async (
  json: SealedJson,
  row: MessageRow,
): Promise<z.infer<typeof messageItem>> => ({
  id: row.id,
  role: row.role,
  status: row.status,
  content: (await json.read(row.content))?.value ?? null,
  model: row.model ?? null,
  finish_reason: row.finish_reason ?? null,
  tokens_in: row.tokens_in,
  tokens_out: row.tokens_out,
  cost_usd: usdOf(row.cost_nano),
  trace_id: row.trace_id ?? null,
  created_at: row.created_at,
})
