import { hash } from 'node:crypto'

interface OpenCall {
  readonly id: string
  readonly name: string
  /** Whether the client gave it no id. */
  readonly isMade: boolean
  /** Its place among all calls. */
  readonly at: number
  isAnswered: boolean
}

/** Calls in their order, of which the first without a result is asked for again and again. */
class OpenCalls {
  readonly #calls: OpenCall[] = []
  #next = 0

  add(call: OpenCall): void {
    this.#calls.push(call)
  }

  first(): OpenCall | undefined {
    while (this.#calls[this.#next]?.isAnswered) this.#next += 1
    return this.#calls[this.#next]
  }
}

/**
 * The ids of a conversation's calls. Clients of this wire may have none: then the same call has the same id at every
 * turn, and its result is the next of its function's.
 */
export class CallIds {
  /** The calls that the client gave this id. */
  readonly #ofId = new Map<string, OpenCalls>()
  /** The calls of this name, and those of them without an id. */
  readonly #ofName = new Map<string, OpenCalls>()
  readonly #madeOfName = new Map<string, OpenCalls>()
  #called = 0

  /** The id of a call; `place` tells it apart from the others of the conversation. */
  called(id: string | null | undefined, name: string, place: string): string {
    const call = { id: id || madeId(name, place), name, isMade: !id, at: this.#called, isAnswered: false }
    this.#called += 1
    add(this.#ofName, name, call)
    if (id) add(this.#ofId, id, call)
    else add(this.#madeOfName, name, call)
    return call.id
  }

  /** The id of the call that a result is of. */
  answered(id: string | null | undefined, name: string, place: string): string {
    const call = id
      ? earlier(this.#ofId.get(id)?.first(), this.#madeOfName.get(name)?.first())
      : this.#ofName.get(name)?.first()
    if (!call) return id || madeId(name, place)
    call.isAnswered = true
    return call.id
  }
}

const madeId = (name: string, place: string): string =>
  `call_${hash('sha256', `${place} ${name}`).slice(0, 24)}`

function add(lists: Map<string, OpenCalls>, key: string, call: OpenCall): void {
  let list = lists.get(key)
  if (!list) {
    list = new OpenCalls()
    lists.set(key, list)
  }
  list.add(call)
}

const earlier = (one: OpenCall | undefined, other: OpenCall | undefined): OpenCall | undefined =>
  one && other ? (one.at < other.at ? one : other) : (one ?? other)
