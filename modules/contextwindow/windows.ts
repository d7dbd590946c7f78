import type { Call } from '#kernel'
import { ensure } from '#kit'

const trustedMs = 10_000
const most = 2000

interface Known {
  window: number
  generation: number
  until: number
}

/**
 * Remembers for a few seconds which window calls met, so that prompts far from it cost no look-up. What it remembers may be out of
 * date for that long: then the provider refuses what would not fit.
 */
export class KnownWindows {
  readonly #known = new Map<string, Known>()

  /** Undefined when it is not known, or may differ from call to call. */
  of(call: Call): number | undefined {
    const known = isDecidedByName(call) ? this.#known.get(keyOf(call)) : undefined
    const { generation } = call.context
    return known && known.generation === generation && known.until > performance.now()
      ? known.window
      : undefined
  }

  /** Remembers nothing where modules choose the model by more than its name. */
  remember(call: Call, window: number): void {
    if (!isDecidedByName(call)) return
    const known = ensure(this.#known, keyOf(call), () => ({ window, generation: 0, until: 0 }), most)
    Object.assign(known, {
      window,
      generation: call.context.generation,
      until: performance.now() + trustedMs,
    })
  }
}

/** Whether no module that chooses where calls go looks at more than what the key says. */
const isDecidedByName = (call: Call): boolean => call.trace.chain?.variesIn?.(call, 'verify') === undefined

const keyOf = ({ request, context, principal }: Call): string =>
  `${principal.keyId} ${context.provider ?? ''} ${request.model}`
