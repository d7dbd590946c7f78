import { z } from 'zod'
import { type Call, defineModule, ThreadEnded } from '#kernel'
import { errorOf, type Refusal } from './claims.ts'
import { estimate } from './estimate.ts'
import { type Answered, type Asked, Gate, nobodyHeld, type Stay } from './gate.ts'
import { hitOf, RateLimitHit } from './hit.ts'
import { emptyState, sweep } from './limits.ts'
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

  setup({ settings, memory, slot, every, on, emit, report, askFirstThread }) {
    if (settings.rules.length === 0) return {}

    const state = memory('state', emptyState)
    const gate = new Gate(state, memory('held', nobodyHeld))
    /** When each limit that was reached was last told of. */
    const told = memory('told', () => new Map<string, number>())
    const claimsOn = compileRules(settings.rules)
    const stays = slot<{ stay: Stay | undefined }>(() => ({ stay: undefined }))

    every(minuteMs, () => {
      const now = performance.now()
      sweep(state, now)
      for (const [name, at] of told) if (now - at >= minuteMs) told.delete(name)
    })
    on(ThreadEnded, ({ thread }) => gate.lose(thread))

    function tell(refusal: Refusal): void {
      const { limit, scope, subject, bucket } = refusal.claim
      const now = performance.now()
      const name = `${limit.measure} ${bucket}`
      if (now - (told.get(name) ?? -minuteMs) < minuteMs) return
      told.set(name, now)
      report('limit_reached', `${limit.measure} of ${scope} ${subject}`)
      emit(RateLimitHit, hitOf(refusal))
    }

    const enter = askFirstThread('enter', (asked: Asked, thread) => {
      const answered = gate.enter(asked, thread)
      if (answered.refusal) tell(answered.refusal)
      return answered
    })
    const leave = askFirstThread('leave', ({ stay, used }: { stay: Stay; used: number }) =>
      gate.leave(stay, used),
    )

    return {
      request(call) {
        const claims = claimsOn(call)
        if (claims.length === 0) return undefined
        const isCounted = claims.some(({ limit }) => limit.measure === 'tokens')
        const answered = enter({ claims, tokens: isCounted ? estimate(call) : 0 })
        return answered instanceof Promise ? answered.then((late) => obey(call, late)) : obey(call, answered)
      },
      settled({ usage }, call) {
        const { stay } = stays(call)
        const used = call.trace.cached ? 0 : usage.input + usage.output
        return stay && leave({ stay, used })
      },
    }

    /** Nothing holds a call back while the module is being switched off. */
    function obey(call: Call, answered: Answered | undefined): undefined {
      if (!answered) return
      for (const [name, value] of Object.entries(answered.headers)) call.trace.header(name, value)
      if (answered.refusal) throw errorOf(answered.refusal)
      stays(call).stay = answered.stay
    }
  },
})
