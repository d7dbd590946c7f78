import type { Awaitable, Call, Completion } from '#kernel'
import { mapStrings } from '#kit'
import type { ArgumentCheck } from './arguments.ts'
import { argumentsOf, type Called, calledIn } from './called.ts'
import type { ToolNames } from './names.ts'
import type { Offered } from './offered.ts'

/** Why a call of a tool is refused. */
export type Reason = 'denied' | 'tainted' | 'not_offered' | 'no_json' | 'schema' | 'arguments' | 'too_many'

export interface Refused {
  /** The index of its choice. */
  readonly choice: number
  /** Its place among the calls of its choice. */
  readonly place: number
  readonly reason: Reason
  /** What is wrong, for the model. */
  readonly problem: string
}

export interface Policy {
  readonly names: ToolNames
  readonly check: ArgumentCheck
  readonly mostCalls: number
  /** Whether a tool may not be called because a text that came into the call is suspect; undefined where none is. */
  readonly isUnsafe: ((tool: string) => boolean) | undefined
  /** The tools that the call offers; undefined where arguments are not held to schemas. */
  readonly offered: Offered | undefined
  /** Puts values back that the client will get, and that placeholders stand for; undefined where there are none. */
  readonly restore: ((text: string) => string) | undefined
}

/** The calls of tools in an answer that the client may not get; a promise only where a thread of its own holds arguments to a schema. */
export function refusedIn({ choices = [] }: Completion, call: Call, policy: Policy): Awaitable<Refused[]> {
  const judged = choices.flatMap(({ index, message }) =>
    (message ? calledIn(message) : []).map((called, place) => ({
      at: { choice: index, place },
      wrong: wrongWith(called, place, call, policy),
    })),
  )
  const ready = judged.flatMap(({ at, wrong }) => (wrong instanceof Promise ? [] : [{ at, wrong }]))
  if (ready.length === judged.length) return refusals(ready)
  return Promise.all(judged.map(async ({ at, wrong }) => ({ at, wrong: await wrong }))).then(refusals)
}

type Wrong = Pick<Refused, 'reason' | 'problem'>

interface Judged {
  readonly at: Pick<Refused, 'choice' | 'place'>
  readonly wrong: Wrong | undefined
}

const refusals = (judged: readonly Judged[]): Refused[] =>
  judged.flatMap(({ at, wrong }) => (wrong ? [{ ...at, ...wrong }] : []))

function wrongWith(called: Called, place: number, call: Call, policy: Policy): Awaitable<Wrong | undefined> {
  const { names, check, mostCalls, isUnsafe, offered, restore } = policy
  const { name } = called
  if (!names.mayCall(name, call)) return { reason: 'denied', problem: 'you may not call this tool' }
  if (isUnsafe?.(name))
    return { reason: 'tainted', problem: 'this tool may not be called after a suspect result of a tool' }
  if (place >= mostCalls)
    return { reason: 'too_many', problem: `one answer may have ${mostCalls} calls at the most` }
  const schema = offered?.get(name)
  if (offered && !schema) return { reason: 'not_offered', problem: 'there is no such tool' }
  const given = readArguments(called)
  if (!given) return { reason: 'no_json', problem: 'the arguments are not one JSON object' }
  const value = restore ? mapStrings(given, restore) : given
  const wrongBy = (problems: readonly string[]): Wrong | undefined => {
    if (problems.length > 0) return { reason: 'schema', problem: problems.join('; ') }
    if (check(name, value)) return undefined
    return { reason: 'arguments', problem: 'the arguments have a value that is not allowed' }
  }
  if (called.isText || !schema) return wrongBy([])
  const checked = schema.check(value)
  if (checked instanceof Promise) return checked.then(({ problems }) => wrongBy(problems))
  return wrongBy(checked.problems)
}

function readArguments(called: Called): object | undefined {
  try {
    return argumentsOf(called)
  } catch {
    return undefined
  }
}
