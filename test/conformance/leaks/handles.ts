import { createHook } from 'node:async_hooks'
import { pathToFileURL } from 'node:url'

/** What the runtime calls things that stay until they are closed, and what people call them. */
const kinds: ReadonlyMap<string, string> = new Map([
  ['Timeout', 'timers keep running'],
  ['TCPSERVERWRAP', 'servers keep listening'],
  ['PIPESERVERWRAP', 'servers keep listening'],
  ['TCPWRAP', 'connections stay open'],
  ['PIPEWRAP', 'pipes stay open'],
  ['UDPWRAP', 'sockets stay open'],
  ['FSEVENTWRAP', 'file watchers keep watching'],
  ['STATWATCHER', 'file watchers keep watching'],
  ['WORKER', 'workers keep running'],
  ['PROCESSWRAP', 'child processes keep running'],
])

/** Deep enough that whoever called a library is seen. */
const stackDepth = 100

interface Handle {
  readonly kind: string
  /** Whether the plugin's own code was at work when it was made. */
  readonly own: boolean
}

/** Timers and handles of the operating system that were made since, and not closed. */
export class Handles {
  readonly #open = new Map<number, Handle>()
  readonly #hook
  readonly #places: readonly string[]

  /** Code in these folders is the plugin's. */
  constructor(folders: readonly string[]) {
    this.#places = folders.flatMap((folder) => [`${folder}/`, `${pathToFileURL(folder).href}/`])
    this.#hook = createHook({
      init: (id, type) => {
        const kind = kinds.get(type)
        if (kind !== undefined) this.#made(id, kind, type === 'Timeout')
      },
      destroy: (id) => void this.#open.delete(id),
      // None of these is a promise, of which a change makes thousands.
      trackPromises: false,
    }).enable()
  }

  /**
   * What is left, in words. What the plugin's code made itself counts each; of what was made in its name by somebody
   * else at least one a time must be left, as the gateway opens and closes things of its own.
   */
  left(times: number): string[] {
    const open = [...this.#open.values()]
    return [...new Set(open.map(({ kind }) => kind))].flatMap((kind) => {
      const some = open.filter((handle) => handle.kind === kind)
      return some.some(({ own }) => own) || some.length >= times ? [kind] : []
    })
  }

  stop(): void {
    this.#hook.disable()
  }

  #made(id: number, kind: string, isTimer: boolean): void {
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = stackDepth
    const { stack = '' } = new Error()
    Error.stackTraceLimit = limit
    const own = this.#places.some((place) => stack.includes(place)) && !stack.includes('AbortSignal.timeout')
    // The gateway has timers for every change; a deadline ends by itself.
    if (own || !isTimer) this.#open.set(id, { kind, own })
  }
}
