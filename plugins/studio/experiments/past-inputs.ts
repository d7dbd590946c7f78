import { badRequest, type Context, type Principal, TraceReader } from '#kernel'
import { addingTo, answerTexts, eachPastCall, scopeOf } from '#kit'
import type { Case } from '../runs/plan.ts'
import type { Definition } from './input.ts'

/** Time for reading past calls, and how many are looked at to find those that fit. */
const budgetMs = 10_000
const mostLooked = 20_000

const nonePast = () =>
  badRequest('body dataset.traces: no past chat of yours fits whose bodies are stored.', {
    param: 'dataset.traces',
  })

type Which = NonNullable<Definition['dataset']['traces']>

/**
 * Past chats as inputs, newest first: the caller's own, since an experiment sends them to other models; of an admin those that no user
 * made. Throws a bad request where there are none.
 */
export async function pastInputs(
  { find }: Pick<Context<unknown>, 'find'>,
  { limit, from, to, ...query }: Which,
  caller: Principal,
  signal: AbortSignal,
): Promise<Case[]> {
  const user_id = scopeOf(caller)
  const reader = find(TraceReader)
  if (!reader) throw nonePast()
  const cases: Case[] = []
  const look = { calls: mostLooked, budgetMs, signal }
  await eachPastCall(
    reader,
    { ...query, from: timeOf(from), to: timeOf(to), source: 'proxy', user_id },
    look,
    async (trace) => {
      if (cases.length >= limit || trace.user_id !== user_id || trace.operation === 'embedding') return
      const { request, response, truncated = [] } = (await reader.bodies(trace.id)) ?? {}
      if (truncated.length > 0) return
      const one = caseOf(trace.id, request, response)
      if (one) cases.push({ ...one, added: addingTo(trace) })
    },
  )
  if (cases.length > 0) return cases
  throw nonePast()
}

const timeOf = (time: string | undefined) => (time === undefined ? undefined : Date.parse(time))

function caseOf(name: string, request: unknown, response: unknown): Case | undefined {
  const { messages, tools } = (request ?? {}) as { messages?: unknown; tools?: unknown }
  if (!Array.isArray(messages) || messages.length === 0 || tools !== undefined) return undefined
  const { choices } = (response ?? {}) as { choices?: unknown }
  if (!Array.isArray(choices)) return undefined
  const expected = answerTexts(response as Parameters<typeof answerTexts>[0]).join('\n')
  return expected === '' ? undefined : { name, messages, expected, weight: 1 }
}
