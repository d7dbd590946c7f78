import { z } from 'zod'
import { newId } from '../../kit/id.ts'
import type { Transaction } from '../../storage/index.ts'
import type { Principal } from '../call/call.ts'
import type { EventType, Occurrence } from '../events.ts'

export const eventActor = z.object({
  type: z.enum(['admin', 'user', 'plugin', 'gateway', 'anonymous']),
  /** Id of the user, of the admin's key, or of the plugin; the address of a client without a known key. */
  id: z.string(),
  /** The key that was used. */
  keyId: z.string().exactOptional(),
})
/** The actor of an event: a user, an admin, a plugin, or an unknown client. */
export type EventActor = Readonly<z.infer<typeof eventActor>>

/** The cause of an occurrence: a call, a management request, or another occurrence. */
export type Cause =
  | { readonly id: string; readonly principal: Principal }
  | {
      readonly requestId?: string | undefined
      readonly principal: Principal | undefined
      readonly ip: string
    }
  | { readonly id: string | undefined; readonly actor: EventActor }

export interface EmitOptions {
  /** Gives the actor; by default the plugin that emits. */
  readonly cause?: Cause | undefined
  /** Delivers it at least once after the transaction is on disk, and never when the transaction is refused. */
  readonly in?: Transaction
  /** The plugin that emits; the gateway itself without it. */
  readonly by?: string
}

/** The options of events that the gateway itself emits without a cause. */
export const noOptions: EmitOptions = {}

const gateway: EventActor = { type: 'gateway', id: 'gateway' }

/** The actor of events with this cause. */
export function actorOf({ cause, by }: Pick<EmitOptions, 'cause' | 'by'>): EventActor {
  if (!cause) return by === undefined ? gateway : { type: 'plugin', id: by }
  if ('actor' in cause) return cause.actor
  const { principal } = cause
  if (!principal) return { type: 'anonymous', id: (cause as { readonly ip: string }).ip }
  const { type, keyId, userId } = principal
  return { type, id: userId ?? keyId, keyId }
}

/** An occurrence on its way to another thread, a worker or the disk. The schema of its type stays where it is. */
export type SentEvent = Omit<Occurrence, 'type'> & Omit<EventType<unknown>, 'schema'>

type Known = Pick<Occurrence, 'id' | 'timestamp' | 'actor' | 'cause'>

/** An occurrence whose facts are formatted only when read, because some events happen with every call. */
export class Happening<T> implements Occurrence<T> {
  readonly type: EventType<T>
  readonly data: T
  readonly #at = Date.now()
  readonly #options: EmitOptions
  readonly #known: Known | undefined
  #id: string | undefined

  constructor(type: EventType<T>, data: T, options: EmitOptions, known?: Known) {
    this.type = type
    this.data = data
    this.#options = options
    this.#known = known
  }

  get id(): string {
    this.#id ??= this.#known?.id ?? newId('evt_')
    return this.#id
  }

  get timestamp(): string {
    return this.#known?.timestamp ?? new Date(this.#at).toISOString()
  }

  get actor(): EventActor {
    return this.#known?.actor ?? actorOf(this.#options)
  }

  get cause(): string | undefined {
    if (this.#known) return this.#known.cause
    const { cause } = this.#options
    return cause && ('ip' in cause ? cause.requestId : cause.id)
  }
}

/** An occurrence that is known, with other data. */
export const occurrenceOf = <T>(type: EventType<T>, known: Known, data: T): Occurrence<T> =>
  new Happening(type, data, noOptions, known)

/** An occurrence as it is sent. */
export function sentOf({ type, id, timestamp, actor, cause, data }: Occurrence): SentEvent {
  const { name, alias, description } = type
  return { name, alias, description, id, timestamp, actor, cause, data }
}

/** The occurrence that was sent. */
export const receive = ({ name, alias, description, data, ...known }: SentEvent): Occurrence =>
  occurrenceOf({ name, alias, description, schema: z.unknown() }, known, data)
