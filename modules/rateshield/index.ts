import { z } from 'zod'
import { type Awaitable, type Call, Counting, defineModule, type Held, type Refusal } from '#kernel'
import { detach } from '#kit'
import { errorOf, headersOf, type Ruled, tightest } from './claims.ts'
import { hitOf, RateLimitHit, toTellOf } from './hit.ts'
import { compileRules, ruleSchema } from './rules.ts'

export default defineModule({
  settings: z.strictObject({
    rules: z.array(ruleSchema).default([]).meta({
      title: 'Rules',
      description:
        'Limits. One rule of each kind applies to a call: for its key, its user, its project, its model, and for all calls.',
    }),
  }),

  setup({ id, settings, slot, event, emit, report, use }) {
    event(RateLimitHit)
    if (settings.rules.length === 0) return {}

    const budget = () => use(Counting).budget(id)
    const claimsOn = compileRules(settings.rules)
    const stays = slot<{ answer?: Awaitable<Held | Refusal> }>(() => ({}))

    /** Once a minute for each limit. */
    async function tell(claim: Ruled, retryS: number): Promise<void> {
      const told = await budget().reserve([toTellOf(claim)])
      if (!told.granted) return
      report('limit_reached', `${claim.unit} of ${claim.scope} ${claim.subject}`)
      emit(RateLimitHit, hitOf(claim, retryS))
      await budget().settle(told, {})
    }

    function obey(call: Call, claims: readonly Ruled[], answer: Held | Refusal): undefined {
      const index = answer.granted ? tightest(claims, answer.left) : answer.claim
      const claim = claims[index]!
      for (const [name, value] of Object.entries(headersOf(claim, answer.left[index]!)))
        call.trace.header(name, value)
      if (answer.granted) return
      const retryS = Math.ceil((answer.retryMs ?? 0) / 1000)
      detach('a limit that was reached', tell(claim, retryS))
      throw errorOf(claim, retryS)
    }

    async function leave(answer: Awaitable<Held | Refusal>, tokens: number): Promise<void> {
      const held = await answer
      if (held.granted) await budget().settle(held, { tokens })
    }

    return {
      request(call) {
        const claims = claimsOn(call)
        if (claims.length === 0) return undefined
        const answer = budget().reserve(claims)
        // Also for a call that ends before the answer is there.
        stays(call).answer = answer
        return answer instanceof Promise
          ? answer.then((late) => obey(call, claims, late))
          : obey(call, claims, answer)
      },
      settled({ usage }, call) {
        const { answer } = stays(call)
        return answer && leave(answer, call.trace.cached ? 0 : usage.input + usage.output)
      },
    }
  },
})
