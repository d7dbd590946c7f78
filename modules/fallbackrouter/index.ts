import { z } from 'zod'
import { type Attempt, type Call, type Context, defineModule, UpstreamError } from '#kernel'
import { byName, Configurations, modelName } from '#kit'
import { CircuitClosed, CircuitOpened, Circuits } from '#provider'
import { Breaker, type CircuitMap, worst } from './breaker.ts'
import { tryEach } from './failover.ts'
import { inOrder, type Target } from './targets.ts'
import { verdictOf } from './verdict.ts'

const targetName = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^*?]+$|^[^*?/]+\/\*$/, 'expected a model, provider/model, or provider/* for the requested model')

const target = z.union([
  targetName.transform((model) => ({ model })),
  z.strictObject({
    model: targetName.meta({
      title: 'Model',
      description: 'A model, provider/model, or provider/* for the requested model.',
    }),
    weight: z.number().positive().default(1).meta({ title: 'Weight', description: 'Share of the calls.' }),
  }),
])

const settings = z.strictObject({
  chains: z.record(z.string().min(1).max(256), z.array(target).min(1).max(20)).default({}).meta({
    title: 'Chains',
    description:
      'For a model or a glob, the targets to try, in order or drawn by weight. The model itself is tried only where it is listed.',
  }),
  failure_threshold: z.int().min(1).max(1000).default(5).meta({
    title: 'Failure threshold',
    description: 'Consecutive failures after which a model of a provider gets no calls for a while.',
  }),
  window_s: z.number().positive().max(3600).default(30).meta({
    title: 'Window',
    description: 'Seconds within which these failures must occur.',
  }),
  open_s: z.number().positive().max(3600).default(30).meta({
    title: 'Open time',
    description: 'Seconds until one call tries the model again.',
  }),
})

type Settings = z.infer<typeof settings>

/** Moves calls on when a target fails. A caller's mistake moves nothing and counts against no target. */
export default defineModule({
  settings,

  once({ event, provide }) {
    event(CircuitOpened)
    event(CircuitClosed)
    const breakers = new Configurations<Breaker>()
    provide(Circuits, {
      state: (provider, model) => worst(breakers.values.map((breaker) => breaker.state(provider, model))),
    })
    return breakers
  },

  setup(context, breakers) {
    const { id, settings, mode, own } = context
    const breaker = breakerOf(context)
    if (mode === 'enforce') own(breakers.add(id, breaker))
    const hooks = {
      attempt({ provider, model }: Attempt) {
        const waitMs = breaker.admit(provider, model)
        if (waitMs > 0) throw shut(provider, model, waitMs)
      },
      attempted: (attempt: Attempt) => learn(context, breaker, attempt),
    }
    if (Object.keys(settings.chains).length === 0) return hooks

    const chainOf = byName<readonly Target[]>(settings.chains)
    return {
      ...hooks,
      leadsTo: () =>
        Object.entries(settings.chains).flatMap(([from, chain]) =>
          chain.map(({ model }) => ({ from, model })),
        ),
      around(call, next) {
        const chain = isFree(call) ? chainOf(call.request.model) : undefined
        return chain ? tryEach(inOrder(chain, modelName(call).name, Math.random), call, next) : next(call)
      },
    }
  },
})

/** A call that names its provider in X-Provider goes there and nowhere else. */
const isFree = ({ context }: Call): boolean => context.provider === undefined

function breakerOf({ settings, memory }: Context<Settings>): Breaker {
  return new Breaker(
    memory('circuits', (): CircuitMap => new Map()),
    {
      threshold: settings.failure_threshold,
      windowMs: settings.window_s * 1000,
      openMs: settings.open_s * 1000,
    },
  )
}

function learn(
  { settings, emit, report }: Context<Settings>,
  breaker: Breaker,
  { provider, model, error }: Attempt,
): void {
  const change = breaker.learn(provider, model, verdictOf(error))
  if (change === 'opened') {
    const { failure_threshold: failures, open_s } = settings
    report('circuit opened', `${provider}/${model}: ${failures} failures in a row`)
    emit(CircuitOpened, { provider, model, failures, open_s })
  }
  if (change === 'closed') {
    report('circuit closed', `${provider}/${model} answers again`)
    emit(CircuitClosed, { provider, model })
  }
}

function shut(provider: string, model: string, waitMs: number): UpstreamError {
  const retryAfterS = Math.ceil(waitMs / 1000)
  return new UpstreamError(
    'circuit_open',
    `${provider} kept failing for ${model} and is left alone. Try again in ${retryAfterS} s.`,
    { provider, model, fault: 'status', retryable: false, retryAfterS },
  )
}
