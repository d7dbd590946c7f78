import { type Call, defineModule, forbidden, newId, Pricing, rateLimited, TokenCounting } from '#kernel'
import { estimateCost } from '#kit'
import { Deferred } from './deferred.ts'
import { ApprovalDecided, ApprovalRequested, byTime, type Held, previewOf, type Verdict } from './held.ts'
import { addRoutes, path } from './routes.ts'
import { type Match, matcherOf } from './rules.ts'
import { settings } from './settings.ts'
import { Waiting } from './waiting.ts'

export default defineModule({
  settings,

  once(context) {
    context.event(ApprovalRequested)
    context.event(ApprovalDecided)
    const parts = { waiting: new Waiting(context), deferred: new Deferred(context) }
    addRoutes(context, parts.waiting, parts.deferred)
    return parts
  },

  setup({ id, settings, mode: enforcement, targets, use }, { waiting, deferred }) {
    const { rules, mode, wait_s, expire_s, on_timeout: onTimeout, max_pending: mostPending } = settings
    if (rules.length === 0) return {}

    /** The most that a call would cost at the places where it may go. */
    async function costOf(call: Call): Promise<number> {
      const rating = { prices: use(Pricing), tokens: use(TokenCounting) }
      const places = await targets(call)
      return Math.max(0, ...places.map((place) => estimateCost(call, place, rating).nano))
    }
    const match = matcherOf(rules, costOf)

    async function wait(call: Call, held: Held): Promise<undefined> {
      const entered = waiting.enter({ held, preview: previewOf(call.request), onTimeout, mostPending })
      const forget = call.cancel.onAbort(() => waiting.leave(held.id))
      const verdict = await entered
      forget()
      call.cancel.check()
      if (!verdict) throw full(mostPending)
      call.trace.facts.approval = { id: held.id, rule: held.rule, ...verdict }
      call.trace.note(id, verdict.approved ? 'approved' : 'denied', { rule: held.rule })
      if (!verdict.approved) throw denied(held, verdict)
    }

    async function defer(call: Call, held: Held): Promise<never> {
      if (!(await deferred.add(call, held, onTimeout, mostPending))) throw full(mostPending)
      call.trace.facts.approval = { id: held.id, rule: held.rule }
      call.trace.header('X-Approval-Id', held.id)
      throw pending(held)
    }

    return {
      /** What makes calls inside of the gateway waits for their answers, and would take none that is made later. */
      async request(call) {
        if (deferred.isApproved(call.id)) return undefined
        const found = await match(call)
        if (!found) return undefined
        call.trace.note(id, 'held', { rule: found.rule })
        if (enforcement === 'shadow') return undefined
        const way = call.context.source === 'proxy' ? mode : 'wait'
        const held = heldOf(call, found, way, (way === 'wait' ? wait_s : expire_s) * 1000)
        return way === 'wait' ? wait(call, held) : defer(call, held)
      },
    }
  },
})

function heldOf(call: Call, { rule, nano }: Match, mode: Held['mode'], ms: number): Held {
  const now = Date.now()
  const { principal, context } = call
  return {
    id: newId('appr_'),
    mode,
    rule,
    trace_id: call.id,
    model: call.request.model,
    project: context.project,
    key_id: principal.keyId,
    user_id: principal.userId ?? null,
    expected_cost_usd: nano === undefined ? null : nano / 1e9,
    created_at: new Date(now).toISOString(),
    expires_at: new Date(now + ms).toISOString(),
  }
}

const full = (most: number) =>
  rateLimited(`${most} calls wait for an approval already. Try again later.`, { retryAfterS: 60 })

function denied({ id, rule }: Held, { by, reason }: Verdict) {
  const why =
    by === byTime && reason === undefined
      ? 'Calls like this need an approval, and no admin decided in time.'
      : (reason ?? 'An admin has denied this call.')
  return forbidden(why, { type: 'approval_denied', details: { approval: id, rule } })
}

/**
 * The answer to a client that does not wait: at 202, since nothing is wrong with the call. The id is in a header, too, as errors of
 * some wires have no details.
 */
const pending = ({ id, rule, expires_at }: Held) =>
  forbidden(`This call waits for an approval. Its answer will be at ${path}/requests/${id}.`, {
    status: 202,
    type: 'approval_pending',
    details: {
      id,
      rule,
      status: 'pending',
      expires_at,
      url: `${path}/requests/${id}`,
    },
  })
