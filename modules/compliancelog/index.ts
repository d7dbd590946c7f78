import { z } from 'zod'
import { type Call, defineModule, Ledger, type Outcome } from '#kernel'
import { detach } from '#kit'
import { detailOf, type Part, parts, usual, word } from './detail.ts'
import { hashed } from './hashed.ts'

export default defineModule({
  settings: z.strictObject({
    include: z
      .array(z.enum(parts))
      .max(parts.length)
      .default([...usual])
      .meta({
        title: 'Contents',
        description:
          'What an entry tells of a call beside who called, when, and how it ended. Of an address it has a commitment only; tags stay for good, so they should name no person.',
      }),
    on_refusals: z.boolean().default(true).meta({
      title: 'Refused calls',
      description: 'Whether calls that were refused or blocked are entered.',
    }),
  }),

  setup({ id, settings, mode, use }) {
    if (mode === 'shadow') return {}
    const told: ReadonlySet<Part> = new Set(settings.include)

    function enter(outcome: Outcome, call: Call, request?: string | null, response?: string | null): void {
      const { principal, context } = call
      const actor = { type: principal.type, id: principal.userId ?? principal.keyId }
      const detail = detailOf(outcome, call, told)
      if (request !== undefined) Object.assign(detail, { request_sha256: request, response_sha256: response })
      const isEntered = use(Ledger).record({
        event_type: 'call.settled',
        actor,
        action: call.operation,
        resource: { type: 'model', id: word(call.request.model) },
        detail,
        ...(told.has('ip') && {
          personal: { of: { kind: 'user', id: actor.id }, fields: { ip: context.ip } },
        }),
        trace_id: call.id,
        verdict: outcome.ending,
      })
      call.trace.note(id, isEntered ? 'entered' : 'dropped')
    }

    return {
      settled(outcome, call) {
        const { ending } = outcome
        if (!settings.on_refusals && (ending === 'refused' || ending === 'blocked')) return
        if (!told.has('hashes')) return enter(outcome, call)
        const request = hashed(call.trace.request)
        const response = hashed(outcome.body())
        if (!(request instanceof Promise || response instanceof Promise))
          return enter(outcome, call, request, response)
        detach(
          'an entry of the ledger',
          Promise.all([request, response]).then(([of, to]) => enter(outcome, call, of, to)),
        )
      },
    }
  },
})
