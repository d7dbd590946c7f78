import { z } from 'zod'
import { type Call, defineModule, type Outcome } from '#kernel'
import { Configurations, compileGlobs, isOfRequest } from '#kit'
import { Course, type Reported } from './course.ts'
import { CanaryMoved } from './events.ts'
import type { Arm } from './judge.ts'
import { rolloutSchema, type Standing } from './rollout.ts'
import { type Defined, Rollouts } from './rollouts.ts'
import { addRoutes } from './routes.ts'
import { placeOf } from './share.ts'

const name = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,99}$/, 'must be a name such as new-model')

/** The part of a call in a rollout. */
interface Part {
  taken?: Omit<Reported, 'failed' | 'ms'>
  /** The model that the call was sent on to, and the first attempt at it. Others may be asked in the same call. */
  model?: string
  tried?: object
}

export default defineModule({
  settings: z.strictObject({
    rollouts: z.record(name, rolloutSchema).default({}).meta({
      title: 'Rollouts',
      description:
        'Moves from a model to a new one, by name. A call takes part in the first whose model it asks for.',
    }),
  }),

  async once(context) {
    const { event, own, inFirstThread } = context
    for (const type of Object.values(CanaryMoved)) event(type)
    const configurations = new Configurations<readonly Defined[]>()
    const defined = (): Defined[] => configurations.values.flat()
    const rollouts = new Rollouts(context)
    own(await rollouts.load())
    const course = new Course(context, rollouts, (id) => defined().find((one) => one.id === id))
    addRoutes(context, { rollouts, course, defined })
    const report = inFirstThread<Reported>('result', (reported) => course.learn(reported))
    return { configurations, rollouts, report }
  },

  async setup({ id, settings, mode, own, slot }, { configurations, rollouts, report }) {
    const binding = id.split('/')[1]
    const all = Object.entries(settings.rollouts).map(([name, rollout]) => {
      const id = binding === undefined ? name : `${binding}:${name}`
      return { id, rollout, matches: compileGlobs([rollout.model]) }
    })
    if (all.length === 0) return {}
    if (mode === 'enforce') {
      for (const one of all) await rollouts.ensure(one)
      own(configurations.add(id, all))
    }
    const part = slot<Part>(() => ({}))
    const isCanary = (one: Defined, call: Call, standing = rollouts.standing(one.id)): boolean =>
      standing !== undefined && placeOf(one.id, one.rollout, call) < standing.percent

    return {
      pure: true,
      leadsTo: () => all.map(({ id, rollout }) => ({ from: id, model: rollout.target })),
      request(call) {
        if (call.context.provider !== undefined) return undefined
        const one = all.find(({ matches }) => matches(call.request.model))
        const standing = one && rollouts.standing(one.id)
        if (!one || !standing) return undefined
        const arm: Arm = isCanary(one, call, standing) ? 'canary' : 'stable'
        if (standing.status === 'running') part(call).taken = { id: one.id, run: standing.run, arm }
        call.trace.facts.canary = { rollout: one.id, arm, percent: standing.percent }
        const model = arm === 'stable' ? call.request.model : one.rollout.target
        part(call).model = model
        if (arm === 'stable') return undefined
        call.trace.decide({ kind: 'canary', chosen: model, reason: reasonOf(one, standing) })
        return call.withRequest({ model })
      },
      varies(call) {
        const arms = all.map((one) => (isCanary(one, call) ? 1 : 0)).join('')
        return arms.includes('1') ? arms : undefined
      },
      attempt(attempt, call) {
        const mine = part(call)
        if (mine.model === call.request.model) mine.tried ??= attempt.identity
      },
      settled(outcome, call) {
        const { taken, tried } = part(call)
        const failed = taken && failedOf(outcome, call, tried)
        if (!taken || failed === undefined || mode === 'shadow') return
        report({ ...taken, failed, ms: outcome.latencyMs })
      },
    }
  },
})

const reasonOf = ({ id, rollout: { sticky } }: Defined, { percent }: Standing): string =>
  `rollout ${id}: ${percent} % by ${sticky}`

/**
 * Whether the model that a call was sent on to failed, also where another answered in its place. Undefined for calls that say
 * nothing of it: those that were refused before, left by their client, answered without it or wrong themselves, and those whose caller
 * brought a key that the provider refuses or limits.
 */
function failedOf({ ending }: Outcome, { trace }: Call, tried: object | undefined): boolean | undefined {
  const attempt = trace.attempts.find(({ identity }) => identity === tried) ?? trace.attempts[0]
  if (!attempt || ending === 'client_abort' || ending === 'refused') return undefined
  const { error, status, ownKey, latencyMs } = attempt
  if (isOfRequest(error?.providerStatus) || (ownKey && ofKey.has(status))) return undefined
  if (error || ending === 'upstream_error' || ending === 'timeout') return true
  // It was given up because another model had answered.
  return latencyMs === undefined && trace.served?.identity !== attempt.identity ? undefined : false
}

/** Statuses that speak of the key and not of the model. */
const ofKey: ReadonlySet<number | undefined> = new Set([401, 402, 403, 429])
