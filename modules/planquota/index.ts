import { z } from 'zod'
import {
  type Awaitable,
  type Call,
  Counting,
  defineModule,
  type Held,
  Plans,
  planBudget,
  type Quota,
  type Refusal,
} from '#kernel'
import { countsAsRequest, detach } from '#kit'
import { Notices } from './notices.ts'
import { errorOf, headersOf, ownQuota, scarcest } from './quotas.ts'

export default defineModule({
  settings: z.strictObject({
    requests_per_month: z.int().min(0).optional().meta({
      title: 'Requests a month',
      description:
        'Requests that all callers together have in a month (UTC), beside those of plans and license; any number by default. A binding counts the calls that pass through it.',
    }),
    notify_at: z.array(z.int().min(1).max(100)).max(10).default([80, 100]).meta({
      title: 'Notices',
      description: 'Percentages of the month’s requests at which a larger plan is suggested, once a month.',
    }),
  }),

  setup({ id, settings, slot, use, report }) {
    // A call that passes through bindings too is one request of its plan.
    const countsPlans = !id.includes('/') && use(Plans).actsHere
    const own = settings.requests_per_month === undefined ? [] : [ownQuota(id, settings.requests_per_month)]
    if (!countsPlans && own.length === 0) return {}

    const quotasOf = ({ principal, context: { source } }: Call): readonly Quota[] => {
      const ofPlans = countsPlans ? use(Plans).quotasOf(principal) : []
      // Attacks of the red team have a budget of their own, and leave the user's alone.
      const counted = source === 'redteam' ? ofPlans.filter(({ scope }) => scope !== 'user') : ofPlans
      return [...counted, ...own]
    }
    const budget = () => use(Counting).budget(planBudget)
    const stays = slot<{ answer?: Awaitable<Held | Refusal> }>(() => ({}))
    const notices = new Notices(settings.notify_at, (prompt) => use(Plans).suggest(prompt))

    function obey(call: Call, quotas: readonly Quota[], answer: Held | Refusal): undefined {
      const index = answer.granted ? scarcest(quotas, answer.left) : answer.claim
      const [quota, left] = [quotas[index]!, answer.left[index]!]
      for (const [name, value] of Object.entries(headersOf(quota, left))) call.trace.header(name, value)
      for (const [i, each] of quotas.entries()) {
        const told = notices.tell(each, answer.left[i]!, call.principal.userId)
        if (told) detach('a quota that is nearly used up', told)
      }
      if (answer.granted) return
      report('quota_reached', `${quota.claim.name} has used its ${quota.claim.limit.most} requests`)
      throw errorOf(call, quota, left)
    }

    async function leave(answer: Awaitable<Held | Refusal>, used: number): Promise<void> {
      const held = await answer
      if (held.granted) await budget().settle(held, { requests: used })
    }

    return {
      request(call) {
        const quotas = quotasOf(call)
        if (quotas.length === 0) return undefined
        const answer = budget().reserve(quotas.map(({ claim }) => claim))
        // Also for a call that ends before the answer is there.
        stays(call).answer = answer
        return answer instanceof Promise
          ? answer.then((late) => obey(call, quotas, late))
          : obey(call, quotas, answer)
      },
      settled(outcome, call) {
        const { answer } = stays(call)
        return answer && leave(answer, countsAsRequest(outcome, call) ? 1 : 0)
      },
    }
  },
})
