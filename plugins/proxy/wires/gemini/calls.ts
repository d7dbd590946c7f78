import { hash } from 'node:crypto'

interface OpenCall {
  readonly id: string
  readonly name: string
  /** Whether the client gave it no id. */
  readonly isMade: boolean
}

/**
 * The ids of a conversation's calls. Clients of this wire may have none: then the same call has the same id at every
 * turn, and its result is the next of its function's.
 */
export class CallIds {
  readonly #open: OpenCall[] = []

  /** The id of a call; `place` tells it apart from the others of the conversation. */
  called(id: string | null | undefined, name: string, place: string): string {
    const call = { id: id || `call_${hash('sha256', `${place} ${name}`).slice(0, 24)}`, name, isMade: !id }
    this.#open.push(call)
    return call.id
  }

  /** The id of the call that a result is of. */
  answered(id: string | null | undefined, name: string, place: string): string {
    const at = this.#open.findIndex((call) =>
      id && !call.isMade ? call.id === id : call.name === name && (call.isMade || !id),
    )
    const [call] = at === -1 ? [] : this.#open.splice(at, 1)
    return call?.id ?? (id || `call_${hash('sha256', `${place} ${name}`).slice(0, 24)}`)
  }
}
