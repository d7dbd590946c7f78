import { Call } from '../../call/call.ts'
import type { ModelRequest } from '../../call/canonical.ts'
import { Trail } from '../../call/trail.ts'
import type { CallChange, CallView } from './messages.ts'
import { type Crossed, partOf } from './trail-part.ts'

interface Known {
  readonly trail: Trail
  readonly crossed: Crossed
  request: ModelRequest
  call: Call
}

/** The calls that are under way, as their worker knows them. */
export class GuestCalls {
  readonly #known = new Map<string, Known>()

  /** The call of a view; all views of one call share a trail, and with it what modules keep for the call. */
  callOf({ request, ...view }: CallView): Call {
    let known = this.#known.get(view.id)
    const trail = known?.trail ?? new Trail()
    const call = new Call({
      ...view,
      request: request ?? known!.request,
      trail,
      ...(known && { cancel: known.call.cancel }),
    })
    if (known) Object.assign(known, { request: call.request, call })
    else {
      known = { trail, crossed: { notes: 0, decisions: 0, paramsChanged: 0 }, request: call.request, call }
      this.#known.set(view.id, known)
    }
    return call
  }

  find(id: string | undefined): Call | undefined {
    return id === undefined ? undefined : this.#known.get(id)?.call
  }

  /** What was added to the call's trail since this was last asked. */
  partOf({ id }: Call) {
    const known = this.#known.get(id)
    return known && partOf(known.trail, known.crossed)
  }

  /** The call is over; ends what runs for it. */
  end(id: string): void {
    const known = this.#known.get(id)
    this.#known.delete(id)
    known?.call.cancel.abort(new Error('the call is over'))
  }
}

/** What is different in a changed call. */
export function changeOf(call: Call, changed: Call): CallChange {
  const names = new Set([...Object.keys(call.request), ...Object.keys(changed.request)])
  const fields = [...names].filter((name) => call.request[name] !== changed.request[name])
  return {
    fields: Object.fromEntries(fields.map((name) => [name, changed.request[name]])),
    ...(changed.context !== call.context && { context: changed.context }),
    ...(changed.timeouts !== call.timeouts && { timeouts: changed.timeouts }),
  }
}
