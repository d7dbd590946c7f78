import { z } from 'zod'
import {
  type Call,
  defineModule,
  type ImpersonalDraft,
  Ledger,
  type LedgerActor,
  type LedgerDraft,
  type Outcome,
} from '#kernel'
import { detach } from '#kit'
import { detailOf, type Part, parts, usual, word } from './detail.ts'
import { bodiesOf, type Hashes, hashesElsewhere, hashesOf } from './hashes.ts'

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

    const draftOf = (outcome: Outcome, call: Call, hashes?: Hashes): ImpersonalDraft => ({
      event_type: 'call.settled',
      actor: actorOf(call),
      action: call.operation,
      resource: { type: 'model', id: word(call.request.model) },
      detail: detailOf(outcome, call, told, hashes),
      trace_id: call.id,
      verdict: outcome.ending,
    })

    function enter(call: Call, draft: LedgerDraft | (() => ImpersonalDraft)): void {
      call.trace.note(id, use(Ledger).record(draft) ? 'entered' : 'dropped')
    }

    return {
      settled(outcome, call) {
        const { ending } = outcome
        if (!settings.on_refusals && (ending === 'refused' || ending === 'blocked')) return
        const personal = told.has('ip') && {
          of: { kind: 'user' as const, id: actorOf(call).id },
          fields: { ip: call.context.ip },
        }
        const bodies = told.has('hashes') ? bodiesOf(outcome, call) : undefined
        if (!bodies?.areLong && !personal)
          return enter(call, () => draftOf(outcome, call, bodies && hashesOf(bodies)))
        const enterWith = (hashes?: Hashes): void =>
          enter(call, { ...draftOf(outcome, call, hashes), ...(personal && { personal }) })
        if (!bodies) return enterWith()
        detach('an entry of the ledger', hashesElsewhere(bodies).then(enterWith))
      },
    }
  },
})

const actorOf = ({ principal }: Call): LedgerActor => ({
  type: principal.type,
  id: principal.userId ?? principal.keyId,
})
