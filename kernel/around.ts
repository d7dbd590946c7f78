import type { Call } from './call.ts'
import { type Entry, failed } from './entry.ts'
import type { Next } from './hooks.ts'
import type { Reply } from './reply.ts'

/**
 * Runs an `around`. Errors from inside, whichever of them it lets through, pass as they are; its own fall under its
 * failure policy: an answer that was there already is used, a failure inside stays the failure.
 */
export async function wrapped(entry: Entry, call: Call, next: Next): Promise<Reply> {
  const errors: unknown[] = []
  let reply: Reply | undefined
  const watched: Next = async (to) => {
    try {
      reply = await next(to)
      return reply
    } catch (error) {
      errors.push(error)
      throw error
    }
  }
  try {
    return await entry.hooks.around!(call, watched)
  } catch (error) {
    if (errors.includes(error)) throw error
    call.cancel.check()
    failed(entry, 'around', error, call)
    if (reply) return reply
    if (errors.length > 0) throw errors.at(-1)
    return next(call)
  }
}
