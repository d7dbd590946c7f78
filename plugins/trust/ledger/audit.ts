import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import {
  type Context,
  type Ledger,
  type LedgerActor,
  type LedgerDraft,
  ManagementAudited,
  type Occurrence,
} from '#kernel'

type Audited = z.infer<typeof ManagementAudited.schema>

const hourMs = 3_600_000
/** How long an entry that the disk refused waits until it is tried again. */
const retryMs = 1000

/** The route by which admins append entries themselves: the entry is all there is to tell of it. */
export const ledgerPath = '/api/trust/ledger'

/**
 * Enters each change by the management API, once. The event of a change is on disk before the change is acknowledged, and comes
 * until it is entered; its id is kept in the batch of the entry, so an event that comes again after a kill is known.
 */
export function enterChanges({ store, on, every, signal }: Context<unknown>, ledger: Ledger): void {
  const entered = store.collection('entered', {
    schema: z.strictObject({ at: z.int() }),
    indexes: { at: ({ at }) => at },
  })

  async function enter(occurrence: Occurrence<Audited>): Promise<void> {
    const append = await ledger.prepare(draftOf(occurrence))
    await store.transaction((tx) => {
      if (tx.get(entered, occurrence.id)) return
      tx.put(entered, occurrence.id, { at: Date.now() })
      append(tx)
    })
  }

  on(ManagementAudited, async ({ outcome, route, method }, occurrence) => {
    if (outcome !== 'changed' || (route === ledgerPath && method === 'POST')) return
    for (;;) {
      try {
        return await enter(occurrence)
      } catch (error) {
        if (signal.aborted || !isRefusedByDisk(error)) throw error
        await pause(retryMs, undefined, { signal })
      }
    }
  })

  // Events that were not delivered when the process died come again when the next one starts, and at no other time.
  every(hourMs, async () => {
    for await (const [id] of entered.scan({ index: 'at', to: Date.now() - hourMs })) await entered.delete(id)
  })
}

const isRefusedByDisk = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'STORE_FAILED'

function draftOf({ id, actor, cause, data }: Occurrence<Audited>): LedgerDraft {
  const { method, route, plugin, params, status, ip } = data
  const isPerson = actor.type === 'user' || actor.type === 'admin'
  return {
    event_type: 'management.changed',
    actor: actorOf(actor),
    action: method.toLowerCase(),
    resource: resourceOf(data),
    detail: {
      route,
      plugin,
      params,
      status,
      event_id: id,
      request_id: cause ?? null,
      key_id: actor.keyId ?? null,
    },
    ...(isPerson && { personal: { of: { kind: 'user', id: actor.id }, fields: { ip } } }),
  }
}

/** A client without a key is known by its address, which says too much of it. */
function actorOf({ type, id }: Occurrence['actor']): LedgerActor {
  switch (type) {
    case 'plugin':
      return { type: 'module', id }
    case 'gateway':
      return { type: 'system', id }
    case 'anonymous':
      return { type, id: 'anonymous' }
    default:
      return { type, id }
  }
}

/** What the path names last, such as the user of `/api/auth/users/{id}/keys`; the route itself where it names nothing. */
function resourceOf({ route, params, plugin }: Audited): LedgerDraft['resource'] {
  const [, type, name] = /.*\/([^/{}]+)\/\{\+?([^}]+)\}/.exec(route ?? '') ?? []
  const id = name === undefined ? undefined : params[name]
  return id && type ? { type, id } : { type: plugin ?? 'gateway', id: route ?? 'gateway' }
}
