import { z } from 'zod'
import { compileGlobs } from '../text/globs.ts'

const names = z.array(z.string().min(1)).optional()

/** The parts of a call that conditions speak of. */
interface Asked {
  readonly id: string
  readonly request: { readonly model: string }
  readonly context: { readonly project: string; readonly tags: Readonly<Record<string, string>> }
  readonly principal: { readonly userId: string | undefined; readonly keyId: string; readonly plan: string }
}

/** Which calls a module applies to: all given conditions must hold, one value of each list is enough. */
export const whenSchema = z.strictObject({
  projects: names.meta({ description: 'Values of X-Project.' }),
  users: names.meta({ description: 'User ids.' }),
  keys: names.meta({ description: 'Key ids.' }),
  plans: names.meta({ description: 'Plan ids.' }),
  models: names.meta({ description: 'Globs for the requested model.' }),
  tags: z
    .record(z.string(), z.string())
    .optional()
    .meta({ description: 'Tags with the values they must have.' }),
  percent: z
    .number()
    .min(0)
    .max(100)
    .optional()
    .meta({ description: 'Percent of calls, chosen by call id.' }),
})

export type When = z.infer<typeof whenSchema>

export type Condition = keyof When

/** Tells the first condition that a call does not meet, a share last; nothing when it meets them all. */
export type Unmet = (call: Asked) => Condition | undefined

/** One test for all conditions, or nothing when there are none. */
export function compileWhen(when: When | undefined): Unmet | undefined {
  if (!when) return undefined
  const all: [Condition, Test | undefined][] = [
    ['projects', oneOf(when.projects, (call) => call.context.project)],
    ['users', oneOf(when.users, (call) => call.principal.userId)],
    ['keys', oneOf(when.keys, (call) => call.principal.keyId)],
    ['plans', oneOf(when.plans, (call) => call.principal.plan)],
    ['models', when.models && matchesModel(when.models)],
    ['tags', when.tags && hasTags(when.tags)],
    ['percent', when.percent === undefined ? undefined : share(when.percent)],
  ]
  const tests = all.filter((pair): pair is [Condition, Test] => pair[1] !== undefined)
  return tests.length === 0 ? undefined : (call) => tests.find(([, test]) => !test(call))?.[0]
}

type Test = (call: Asked) => boolean

function oneOf(
  values: readonly string[] | undefined,
  read: (call: Asked) => string | undefined,
): Test | undefined {
  if (!values) return undefined
  const set = new Set(values)
  return (call) => {
    const value = read(call)
    return value !== undefined && set.has(value)
  }
}

function matchesModel(globs: readonly string[]): Test {
  const matches = compileGlobs(globs)
  return (call) => matches(call.request.model)
}

function hasTags(tags: Readonly<Record<string, string>>): Test {
  const wanted = Object.entries(tags)
  return (call) => wanted.every(([name, value]) => call.context.tags[name] === value)
}

/** The last characters of an id are random, so they choose a fair share, and the same call always alike. */
function share(percent: number): Test {
  return (call) => (Number.parseInt(call.id.slice(-4), 32) % 10_000) / 100 < percent
}
