import { z } from 'zod'
import { type Call, defineModule, type Outcome } from '#kernel'
import { Configurations, compileGlobs } from '#kit'
import { Course, type Reported } from './course.ts'
import { CanaryMoved } from './events.ts'
import type { Arm } from './judge.ts'
import { rolloutSchema, type Standing } from './rollout.ts'
import { type Defined, Rollouts } from './rollouts.ts'
import { addRoutes } from './routes.ts'
import { placeOf } from './share.ts'

const name = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,99}$/, 'must be a name such as new-model')

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
    const part = slot<{ taken?: Omit<Reported, 'failed' | 'ms'> }>(() => ({}))
    const isCanary = (one: Defined, call: Call, standing = rollouts.standing(one.id)): boolean =>
      standing !== undefined && placeOf(one.id, one.rollout, call) < standing.percent

    return {
      pure: true,
      request(call) {
        if (call.context.provider !== undefined) return undefined
        const one = all.find(({ matches }) => matches(call.request.model))
        const standing = one && rollouts.standing(one.id)
        if (!one || !standing) return undefined
        const arm: Arm = isCanary(one, call, standing) ? 'canary' : 'stable'
        if (standing.status === 'running') part(call).taken = { id: one.id, run: standing.run, arm }
        call.trace.facts.canary = { rollout: one.id, arm, percent: standing.percent }
        if (arm === 'stable') return undefined
        const model = one.rollout.target
        call.trace.decide({ kind: 'canary', chosen: model, reason: reasonOf(one, standing) })
        return call.withRequest({ model })
      },
      varies(call) {
        const arms = all.map((one) => (isCanary(one, call) ? 1 : 0)).join('')
        return arms.includes('1') ? arms : undefined
      },
      settled(outcome, call) {
        const { taken } = part(call)
        const failed = taken && failedOf(outcome, call)
        if (!taken || failed === undefined || mode === 'shadow') return
        report({ ...taken, failed, ms: outcome.latencyMs })
      },
    }
  },
})

const reasonOf = ({ id, rollout: { sticky } }: Defined, { percent }: Standing): string =>
  `rollout ${id}: ${percent} % by ${sticky}`

/**
 * Whether the model that a call was first sent to failed, also where another answered in its place. Undefined for calls that say
 * nothing of it: those that were refused before, left by their client, or answered without a provider, and those whose caller
 * brought a key that the provider refuses or limits.
 */
function failedOf({ ending }: Outcome, { trace }: Call): boolean | undefined {
  const [first] = trace.attempts
  if (!first || ending === 'client_abort' || ending === 'refused') return undefined
  if (first.ownKey && ofKey.has(first.status)) return undefined
  return first.error !== undefined || ending === 'upstream_error' || ending === 'timeout'
}

/** Statuses that speak of the key and not of the model. */
const ofKey: ReadonlySet<number | undefined> = new Set([401, 402, 403, 429])
