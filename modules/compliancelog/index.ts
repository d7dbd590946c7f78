import { z } from 'zod'
import { type Call, defineModule, Ledger, type LedgerActor, type LedgerDraft, type Outcome } from '#kernel'
import { detailOf, digestsOf, type Part, parts, usual, word } from './detail.ts'

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

    const draftOf = (outcome: Outcome, call: Call): LedgerDraft => ({
      event_type: 'call.settled',
      actor: actorOf(call),
      action: call.operation,
      resource: { type: 'model', id: word(call.request.model) },
      detail: detailOf(outcome, call, told),
      ...(told.has('hashes') && { digests: digestsOf(outcome, call) }),
      ...(told.has('ip') && {
        personal: { of: { kind: 'user', id: actorOf(call).id }, fields: { ip: call.context.ip } },
      }),
      trace_id: call.id,
      verdict: outcome.ending,
    })

    return {
      settled(outcome, call) {
        const { ending } = outcome
        if (!settings.on_refusals && (ending === 'refused' || ending === 'blocked')) return
        const isEntered = use(Ledger).record(draftOf(outcome, call))
        call.trace.note(id, isEntered ? 'entered' : 'dropped')
      },
    }
  },
})

const actorOf = ({ principal }: Call): LedgerActor => ({
  type: principal.type,
  id: principal.userId ?? principal.keyId,
})
