import { z } from 'zod'
import { nanoOf, orNone, usdOf } from '#kit'
import type { SessionRow } from './session.ts'
import type { Steps } from './steps.ts'

const count = orNone(z.int().min(1).max(1_000_000_000))

export const settings = z.strictObject({
  max_calls: count
    .default(50)
    .meta({ title: 'Calls', description: 'Calls of a session; `none` for no limit.' }),
  max_depth: count.default('none').meta({
    title: 'Depth',
    description: "Rounds of tool calls since the user's last message; `none` for no limit.",
  }),
  max_tool_calls: count.default('none').meta({
    title: 'Tool calls',
    description: 'Tool calls of a session; `none` for no limit.',
  }),
  max_tokens: count.default('none').meta({
    title: 'Tokens',
    description: 'Tokens of prompts and answers of a session; `none` for no limit.',
  }),
  max_cost_usd: orNone(z.number().positive().max(1e6)).default(1).meta({
    title: 'Cost',
    description: 'Cost of a session in USD; `none` for no limit.',
  }),
  max_minutes: orNone(z.number().positive().max(1e6)).default(30).meta({
    title: 'Time',
    description: 'Minutes since the first call of a session; `none` for no limit.',
  }),
  loop_repeats: orNone(z.int().min(2).max(1000)).default(4).meta({
    title: 'Repeats',
    description:
      "How often the same tool may be called with the same arguments since the user's last message, and how many answers in a row may be nearly the same; `none` for any number.",
  }),
  idle_minutes: z.number().min(1).max(1e6).default(60).meta({
    title: 'Forgetting',
    description: 'Minutes after its last call when a session is forgotten, and may begin anew.',
  }),
  derive: z.enum(['tools', 'all', 'none']).default('tools').meta({
    title: 'Without a session id',
    description:
      'Which calls without X-Session-Id belong to the session of their conversation: those that use tools, all, or none. Conversations that begin alike are one session.',
  }),
})

export type Settings = z.infer<typeof settings>

export const bounds = [
  'killed',
  'repeated_tool',
  'repeated_answer',
  'calls',
  'depth',
  'tool_calls',
  'tokens',
  'cost_usd',
  'minutes',
] as const
export type Bound = (typeof bounds)[number]

/** Why a session may not go on. */
export interface Stop {
  readonly bound: Bound
  /** Undefined for a session that was killed. */
  readonly limit: number | undefined
  readonly used: number
}

/** The first bound that a session has reached, before another call of it is made. */
export function stopOf(session: SessionRow, steps: Steps, limits: Settings, now: number): Stop | undefined {
  if (session.killed) return { bound: 'killed', limit: undefined, used: 0 }
  const inTurn = session.turn === steps.turn ? Math.max(0, ...Object.values(session.tools)) : 0
  const { max_cost_usd: usd, max_minutes: minutes } = limits
  const lastedMs = now - session.started_at
  const reached: readonly [Bound, limit: number | 'none', used: number, isReached?: boolean][] = [
    ['repeated_tool', limits.loop_repeats, Math.max(inTurn, steps.repeats)],
    ['repeated_answer', limits.loop_repeats, session.alike],
    ['calls', limits.max_calls, session.calls],
    ['depth', limits.max_depth, steps.depth],
    ['tool_calls', limits.max_tool_calls, Math.max(session.tool_calls, steps.toolCalls)],
    ['tokens', limits.max_tokens, session.tokens],
    ['cost_usd', usd, usdOf(session.cost_nano), usd !== 'none' && session.cost_nano >= nanoOf(usd)],
    ['minutes', minutes, Math.floor(lastedMs / 60_000), minutes !== 'none' && lastedMs >= minutes * 60_000],
  ]
  for (const [bound, limit, used, isReached] of reached)
    if (limit !== 'none' && (isReached ?? used >= limit)) return { bound, limit, used }
  return undefined
}
