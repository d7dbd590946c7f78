import { z } from 'zod'
import { likeness } from './sketch.ts'
import type { Answered, Steps } from './steps.ts'

const count = z.int().min(0)

/** A session as it is kept: counts, and hashes that no text can be had back from. Times are milliseconds since the epoch. */
export const sessionRow = z.object({
  /** As the client calls it, sealed where bodies are; absent where it was derived. */
  session: z.string().optional(),
  from: z.enum(['header', 'derived']),
  user_id: z.string().optional(),
  key_id: z.string(),
  tenant: z.string().optional(),
  project: z.string(),
  model: z.string(),
  started_at: z.number(),
  last_at: z.number(),
  forget_at: z.number(),
  calls: count,
  tool_calls: count,
  tokens: count,
  cost_nano: count,
  /** The user's message that the tools below were called for. */
  turn: z.string(),
  tools: z.record(z.string(), count),
  /** Answers in a row that are nearly the same. */
  alike: count,
  sketch: z.array(z.number()).optional(),
  stopped: z.object({ bound: z.string(), at: z.number() }).optional(),
  killed: z.object({ at: z.number(), by: z.string(), reason: z.string().optional() }).optional(),
})

export type SessionRow = z.infer<typeof sessionRow>

/** What a session is begun with. */
export type SessionFacts = Pick<
  SessionRow,
  'session' | 'from' | 'user_id' | 'key_id' | 'tenant' | 'project' | 'model'
>

/** How a call ended, for its session. */
export interface Spent extends Answered {
  readonly id: string
  readonly turn: string
  readonly tokens: number
  readonly costNano: number
  /** Whether it ended further in, and reached nothing. */
  readonly isRefused: boolean
}

/** Answers that have so much in common are nearly the same. */
const nearly = 0.8
/** Different tool calls of one turn that are told apart. */
const mostTools = 200

export const newSession = (facts: SessionFacts, now: number, idleMs: number): SessionRow => ({
  ...facts,
  started_at: now,
  last_at: now,
  forget_at: now + idleMs,
  calls: 0,
  tool_calls: 0,
  tokens: 0,
  cost_nano: 0,
  turn: '',
  tools: {},
  alike: 0,
})

/** Counts a call that begins. */
export function begin(
  session: SessionRow,
  { turn }: Steps,
  model: string,
  now: number,
  idleMs: number,
): void {
  session.calls += 1
  session.model = model
  session.last_at = now
  session.forget_at = now + idleMs
  delete session.stopped
  if (session.turn !== turn) Object.assign(session, { turn, tools: {} })
}

/** Counts what a call has used and answered. */
export function spend(
  session: SessionRow,
  { turn, tokens, costNano, isRefused, tools, sketch }: Spent,
): void {
  if (isRefused) session.calls = Math.max(0, session.calls - 1)
  session.tokens += tokens
  session.cost_nano += costNano
  session.tool_calls += tools.length
  if (session.turn === turn) {
    for (const tool of tools) {
      if (tool in session.tools || Object.keys(session.tools).length < mostTools)
        session.tools[tool] = (session.tools[tool] ?? 0) + 1
    }
  }
  if (sketch === undefined) return
  const isAlike = session.sketch !== undefined && likeness(session.sketch, sketch) >= nearly
  session.alike = isAlike ? session.alike + 1 : 1
  session.sketch = [...sketch]
}
