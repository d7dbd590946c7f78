import { z } from 'zod'
import { defineEvent, type GatewayError, rateLimited } from '#kernel'
import { type Bound, bounds, type Stop } from './bounds.ts'

export const AgentStopped = defineEvent(
  'agent.session_stopped',
  z.object({
    session_id: z.string(),
    bound: z.enum(bounds),
    limit: z.number().nullable().meta({ description: 'Null for a session that was killed.' }),
    user_id: z.string().nullable(),
  }),
  { description: 'A session reached a bound. Sent once, however many of its calls are refused.' },
)

const newSession = 'Begin a new session, or ask an operator to reset this one.'

const reasons: Readonly<Record<Bound, (limit: number) => string>> = {
  killed: () => 'The session was killed. Its calls are refused until an operator resets it.',
  repeated_tool: (limit) =>
    `The agent called the same tool with the same arguments ${limit} times. Give it other instructions.`,
  repeated_answer: (limit) => `The last ${limit} answers are nearly the same. ${newSession}`,
  calls: (limit) => `The session has made its ${limit} calls. ${newSession}`,
  depth: (limit) =>
    `The agent has called tools in ${limit} rounds since the user's last message. Let the user say how to go on.`,
  tool_calls: (limit) => `The session has made its ${limit} tool calls. ${newSession}`,
  tokens: (limit) => `The session has used its ${limit} tokens. ${newSession}`,
  cost_usd: (limit) => `The session has cost its $${limit}. ${newSession}`,
  minutes: (limit) => `The session has lasted its ${limit} minutes. ${newSession}`,
}

/** `retryMs` is the time after which the session is forgotten. */
export function refusal(id: string, { bound, limit, used }: Stop, retryMs = 0): GatewayError {
  const details = { session_id: id, bound, ...(limit !== undefined && { limit, used }) }
  return rateLimited(reasons[bound](limit ?? 0), {
    type: 'session_stopped',
    module: 'agentguard',
    details,
    ...(retryMs > 0 && { retryAfterS: Math.ceil(retryMs / 1000) }),
  })
}
