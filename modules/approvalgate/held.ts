import { z } from 'zod'
import { defineEvent, type ModelRequest } from '#kernel'
import { messageTexts } from '#kit'
import { toolNames } from './rules.ts'

/** A call that is held, without what it says. */
export const held = z.object({
  id: z.string(),
  mode: z.enum(['wait', 'async']),
  rule: z.string().meta({ description: 'The rule that holds it.' }),
  trace_id: z.string().meta({ description: 'The trace of the call as the client made it.' }),
  model: z.string(),
  project: z.string(),
  key_id: z.string(),
  user_id: z.string().nullable(),
  expected_cost_usd: z.number().nullable().meta({ description: 'Null where no rule asked for it.' }),
  created_at: z.string().meta({ format: 'date-time' }),
  expires_at: z.string().meta({ format: 'date-time' }),
})
export type Held = z.infer<typeof held>

/** What was decided: by a key, or by the time. */
export const verdict = z.object({
  approved: z.boolean(),
  by: z.string(),
  reason: z.string().optional(),
})
export type Verdict = z.infer<typeof verdict>

/** Decides by itself, as nobody did. */
export const byTime = 'timeout'

export const ApprovalRequested = defineEvent('approval.requested', held, {
  description: 'A call is held until an admin approves or denies it.',
})
export const ApprovalDecided = defineEvent('approval.decided', verdict.extend({ id: z.string() }), {
  description: 'A held call was approved or denied, by an admin or because its time was up.',
})

export const preview = z.object({
  messages: z.array(z.object({ role: z.string(), text: z.string() })),
  tools: z.array(z.string()),
  is_whole: z.boolean().meta({ description: 'Whether all messages and texts are there in full.' }),
})
export type Preview = z.infer<typeof preview>

/** How much of a held call a reviewer is shown: the memory that waiting calls take is bounded by it. */
const mostMessages = 20
const mostCharacters = 4000
const mostTools = 100

/** What a reviewer is shown of a request: its last messages, each from its beginning, and the names of its tools. */
export function previewOf({ messages, prompt, input, tools }: ModelRequest): Preview {
  const other = prompt ?? input
  const all = messages
    ? messages.map((message) => ({ role: message.role, text: messageTexts(message).join('\n\n') }))
    : [{ role: 'user', text: typeof other === 'string' ? other : (JSON.stringify(other) ?? '') }]
  const names = toolNames(tools)
  return {
    messages: all
      .slice(-mostMessages)
      .map(({ role, text }) => ({ role, text: text.slice(0, mostCharacters) })),
    tools: names.slice(0, mostTools),
    is_whole:
      all.length <= mostMessages &&
      names.length <= mostTools &&
      all.every(({ text }) => text.length <= mostCharacters),
  }
}
