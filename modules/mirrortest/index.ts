import { z } from 'zod'
import { CallSettled, defineModule, newId, type Outcome } from '#kernel'
import { detach } from '#kit'
import { compare } from './compare.ts'
import { Heard } from './heard.ts'
import { openMirrors } from './mirrors.ts'
import type { Side } from './row.ts'

export default defineModule({
  settings: z.strictObject({
    target: z.string().min(1).max(256).optional().meta({
      title: 'Target',
      description:
        'The model that gets the copies, such as `anthropic/claude-sonnet-4-5`. It is asked with the keys of the gateway.',
    }),
    percent: z.number().min(0).max(100).default(5).meta({
      title: 'Percentage',
      description: 'Percentage of the calls that are copied; none that names its provider is.',
    }),
    max_in_flight: z.int().min(1).max(100).default(4).meta({
      title: 'At a time',
      description:
        'Copies under way in each thread. While there are as many, further ones are dropped and counted.',
    }),
    timeout_s: z.number().positive().max(3600).default(60).meta({
      title: 'Time limit',
      description: 'Seconds that a copy may take.',
    }),
  }),

  once: openMirrors,

  setup({ id, settings, slot, on, complete, mode }, { log, dropped }) {
    const { target, percent, max_in_flight, timeout_s } = settings
    if (target === undefined || percent === 0 || mode === 'shadow') return {}
    /** Several, where other modules make several calls of one. */
    const copied = slot<Heard[]>(() => [])
    const drawn = slot(() => ({ hits: Math.random() * 100 < percent }))
    /** What came of the copies that are under way, by the id of the copied call. */
    const underWay = new Map<string, Outcome | undefined>()

    on(CallSettled, ({ outcome, call: { context, trace } }) => {
      const { parent_id: parent } = trace.facts
      if (context.source === `plugin:${id}` && typeof parent === 'string' && underWay.has(parent))
        underWay.set(parent, outcome)
    })

    async function mirror(heard: Heard, given: Outcome): Promise<void> {
      const { call } = heard
      underWay.set(call.id, undefined)
      const source = { ...sideOf(given), latency_ms: heard.latencyMs }
      const row = { id: newId('mir_'), trace_id: call.id, at: Date.now(), by: id, target: target!, source }
      try {
        const signal = AbortSignal.timeout(timeout_s * 1000)
        const answer = await complete({ ...call.request, model: target! }, { after: call, signal })
        const outcome = underWay.get(call.id)
        log.append({ ...row, ...(outcome && { mirror: sideOf(outcome) }), ...compare(heard.body, answer) })
      } catch (error) {
        log.append({ ...row, problem: problemOf(underWay.get(call.id), error) })
      } finally {
        underWay.delete(call.id)
      }
    }

    return {
      // A call that names its provider in X-Provider goes there and nowhere else.
      wraps: (call) =>
        call.operation !== 'embedding' && call.context.provider === undefined && drawn(call).hits,
      async around(call, next) {
        const began = performance.now()
        const reply = await next(call)
        copied(call).push(new Heard(call, reply, began))
        call.trace.facts.mirror = { target }
        return reply
      },
      stream: (call) =>
        copied(call)
          .find((heard) => heard.call === call)
          ?.filter(),
      settled(outcome, call) {
        const served = copied(call).find(({ attempt }) => attempt === call.trace.served)
        if (!served || (outcome.ending !== 'ok' && outcome.ending !== 'length')) return
        if (underWay.size >= max_in_flight) dropped()
        else detach('a copied call', mirror(served, outcome))
      },
    }
  },
})

const sideOf = ({ provider, model, latencyMs, cost, usage }: Outcome): Side => ({
  ...(provider !== undefined && { provider }),
  ...(model !== undefined && { model }),
  latency_ms: latencyMs,
  ...(cost && { cost_nano: cost.totalNano }),
  output_tokens: usage.output,
})

/** Why a copy has no answer: by its code where a provider says it, whose words may be those of the prompt. */
function problemOf(outcome: Outcome | undefined, error: unknown): string {
  if (outcome?.error) return `${outcome.error.code} (${outcome.error.status})`
  return (error instanceof Error ? error.message : String(error)).slice(0, 300)
}
