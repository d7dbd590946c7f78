import { z } from 'zod'
import {
  type Call,
  contentBlocked,
  type Detection,
  defineModule,
  forbidden,
  type GatewayError,
  type PolicyCheck,
  type PolicyHit,
  type PolicySpan,
  Pricing,
  TrustPolicies,
} from '#kernel'
import { callsTool, filterStream, HeldAnswer, trustPolicy } from '#kit'
import { expectedCost } from './cost.ts'

type Direction = PolicyHit['direction']

/** The policies of a call, asked for once: a policy that changes during a call holds for the next one. */
interface Checked {
  check?: PolicyCheck | undefined
  readonly hits: PolicyHit[]
}

const refusal = 'The content was refused by a trust policy of the operator.'
const tooLong = 'The answer is too long for the trust policies of the operator.'

export default defineModule({
  settings: z.strictObject({
    policies: z.array(trustPolicy).max(100).default([]).meta({
      title: 'Policies',
      description: 'Policies beside those that are kept under /api/trust/policies, in the same form.',
    }),
  }),

  setup({ id, settings, mode, use, find, slot, targets }) {
    const own = use(TrustPolicies).compile(id, settings.policies)
    // Stored policies hold once for a call, whatever bindings the module has.
    const from = { stored: !id.includes('/'), own }
    const states = slot<Checked>(() => ({ hits: [] }))
    const checkOf = (call: Call): PolicyCheck | undefined => {
      const state = states(call)
      if (!('check' in state)) state.check = use(TrustPolicies).check(call, from)
      return state.check
    }

    /** Keeps a violation for the end of the call, and tells the client of one that it is warned of. */
    function keep(hit: PolicyHit, call: Call): void {
      const { hits } = states(call)
      // What the module only tries, no policy has done.
      hits.push(mode === 'shadow' ? { ...hit, shadow: true } : hit)
      if (hit.action !== 'warn' || hit.shadow || hit.direction === 'reply') return
      const warned = hits.filter(({ action, direction }) => action === 'warn' && direction === 'request')
      call.trace.header('X-Policy-Warnings', [...new Set(warned.map(({ policyId }) => policyId))].join(', '))
    }

    /** Keeps violations that no span tells of; returns one that blocks. */
    function tell(hits: readonly PolicyHit[], call: Call): PolicyHit | undefined {
      for (const hit of hits) {
        keep(hit, call)
        const { policyId: ruleId, action, shadow, severity, direction } = hit
        call.trace.finding(id, {
          type: 'policy',
          severity,
          action: shadow ? 'log' : action,
          direction,
          label: 'policy',
          ruleId,
        })
      }
      return hits.find(({ action, shadow }) => action === 'block' && !shadow)
    }

    function judge(call: Call, body: Parameters<PolicyCheck['judge']>[0]): GatewayError | undefined {
      const blocking = tell(checkOf(call)!.judge(body), call)
      return blocking && contentBlocked(refusal, { module: id, details: { policy_id: blocking.policyId } })
    }

    function decide(call: Call, costUsd?: number): void {
      const blocking = tell(checkOf(call)!.decide(costUsd), call)
      if (blocking)
        throw forbidden('A trust policy of the operator does not allow this call.', {
          type: 'policy_violation',
          details: { policy_id: blocking.policyId },
        })
    }

    const detection = (direction: Direction): Detection => ({
      reach: use(TrustPolicies).reach,
      refusal,
      applies: (call) => checkOf(call)?.looksAt(direction) ?? false,
      scan: (text, place, call, from) => checkOf(call)?.find(text, place, from) ?? [],
      open: (text, call, from) => Math.max(from, text.length - (checkOf(call)?.held(direction) ?? 0)),
      found(span, _place, call) {
        for (const hit of (span as PolicySpan).hits) keep(hit, call)
      },
    })

    return {
      idle: () => use(TrustPolicies).any?.(from) === false,
      detect: { request: detection('request'), reply: detection('reply') },
      request(call) {
        const check = checkOf(call)
        if (!check) return undefined
        if (!check.needsCost) return decide(call) as undefined
        return targets(call)
          .then(([target]) => target && expectedCost(call, target, find(Pricing)))
          .then((usd) => decide(call, usd) as undefined)
      },
      wraps: (call) => checkOf(call)?.mayJudge ?? false,
      async around(call, next) {
        const reply = await next(call)
        const how = checkOf(call)!.judges()
        if (how === 'no') return reply
        if (reply.kind === 'stream') {
          const held = new HeldAnswer({
            holdsFrom: (chunk) => how === 'before' || (how === 'calls' && callsTool(chunk)),
            sees: 'all',
            judge: (body, chunks) => judge(call, body) ?? chunks,
            tooLong: () => (how === 'beside' ? undefined : contentBlocked(tooLong)),
          })
          return reply.through(filterStream(reply.chunks, [held]))
        }
        const blocked = judge(call, reply.body)
        if (blocked) throw blocked
        return reply
      },
      eligible: (target, call) => checkOf(call)?.refuses(target),
      settled(_outcome, call) {
        const { hits } = states(call)
        if (hits.length > 0) use(TrustPolicies).record(call, hits)
      },
    }
  },
})
