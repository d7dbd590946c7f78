import { z } from 'zod'
import { type Call, defineModule } from '#kernel'
import { type Claim, errorOf, headersOf, type Refusal, refusalOf, tightest } from './claims.ts'
import { estimate } from './estimate.ts'
import { hitOf, RateLimitHit } from './hit.ts'
import { emptyState, type Load, sweep } from './limits.ts'
import { compileRules, ruleSchema } from './rules.ts'

const minuteMs = 60_000

export default defineModule({
  settings: z.strictObject({
    rules: z.array(ruleSchema).default([]).meta({
      title: 'Rules',
      description:
        'Limits. A call is under one rule of each kind: that of its key, its user, its project, its model, and of all.',
    }),
  }),

  setup({ settings, memory, slot, every, emit, report }) {
    if (settings.rules.length === 0) return {}

    const state = memory('state', emptyState)
    /** When each limit that was reached was last told of. */
    const told = memory('told', () => new Map<string, number>())
    const claimsOn = compileRules(settings.rules, state)
    const taken = slot<{ claims: readonly Claim[]; load: Load }>(() => ({
      claims: [],
      load: { at: 0, tokens: 0 },
    }))

    const forget = (): void => {
      const now = performance.now()
      sweep(state, now)
      for (const [name, at] of told) if (now - at >= minuteMs) told.delete(name)
    }
    every(minuteMs, forget, { inEachThread: true })

    function tell(refusal: Refusal, now: number): void {
      const { limit, scope, subject, bucket } = refusal.claim
      const name = `${limit.measure} ${bucket}`
      if (now - (told.get(name) ?? -minuteMs) < minuteMs) return
      told.set(name, now)
      report('limit_reached', `${limit.measure} of ${scope} ${subject}`)
      emit(RateLimitHit, hitOf(refusal))
    }

    return {
      request(call) {
        const claims = claimsOn(call)
        if (claims.length === 0) return undefined
        const load = loadOf(call, claims)
        const refusal = refusalOf(claims, load)
        if (refusal) {
          show(call, refusal.claim, load)
          tell(refusal, load.at)
          throw errorOf(refusal)
        }
        for (const { limit, bucket } of claims) limit.take(bucket, load)
        Object.assign(taken(call), { claims, load })
        show(call, tightest(claims, load), load)
        return undefined
      },
      settled({ usage }, call) {
        const { claims, load } = taken(call)
        const used = call.trail.cached ? 0 : usage.input + usage.output
        for (const { limit, bucket } of claims) limit.settle(bucket, load, performance.now(), used)
      },
    }
  },
})

function loadOf(call: Call, claims: readonly Claim[]): Load {
  const isCounted = claims.some(({ limit }) => limit.measure === 'tokens')
  return { at: performance.now(), tokens: isCounted ? estimate(call) : 0 }
}

function show({ trail }: Call, claim: Claim, load: Load): void {
  for (const [name, value] of Object.entries(headersOf(claim, load))) trail.header(name, value)
}
