import { type Call, type Completion, type ModelRequest, WholeReply } from '#kernel'
import { addNumbers } from '#kit'

/** Requests of one call that are under way at a time. */
const atATime = 4

/**
 * An embedding call as several, each with so many inputs at most; undefined where it has no more than that. What they
 * note they note of the whole call.
 */
export function partsOf(call: Call, most: number | undefined): readonly Call[] | undefined {
  const inputs = listIn(call.request)
  if (most === undefined || inputs === undefined || inputs.length <= most) return undefined
  const count = Math.ceil(inputs.length / most)
  return Array.from({ length: count }, (_, i) => {
    const input = inputs.slice(i * most, (i + 1) * most) as NonNullable<ModelRequest['input']>
    return call.withRequest({ input })
  })
}

/** A list of inputs; one that is a text, or one text's tokens, is none. */
function listIn({ input }: ModelRequest): readonly unknown[] | undefined {
  return Array.isArray(input) && typeof input[0] !== 'number' ? (input as readonly unknown[]) : undefined
}

/** Runs something for each part, a few at a time. Rejects with the first failure, after which none is begun. */
export async function forEachPart<P, R>(parts: readonly P[], run: (part: P) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const waiting = parts.entries()
  let failed = false
  const work = async (): Promise<void> => {
    for (const [i, part] of waiting) {
      if (failed) return
      try {
        results[i] = await run(part)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atATime, parts.length) }, work))
  return results
}

/** One answer of the parts' answers in their order: all vectors, numbered anew, and the sum of what was used. */
export function joined(replies: readonly WholeReply[]): WholeReply {
  const bodies = replies.map(({ body }) => body)
  const data = bodies.flatMap((body) => body.data ?? []).map((one, index) => ({ ...(one as object), index }))
  const usages = bodies.flatMap(({ usage }) => usage ?? [])
  const whole: Completion = { ...bodies[0], data }
  if (usages.length === 0) return WholeReply.of(whole)
  return WholeReply.of({ ...whole, usage: usages.reduce(addNumbers) })
}
