import type { Choice, ChoiceDelta } from '#kernel'
import type { Quirks } from './quirks.ts'

/** A choice with an end reason that all clients know, and the provider's own beside it; the same object where it was known. */
export function withKnownEnd<C extends Choice | ChoiceDelta>(choice: C, { finish_reasons }: Quirks): C {
  const native = (choice as C | null)?.finish_reason
  const known =
    typeof native === 'string' && Object.hasOwn(finish_reasons, native) ? finish_reasons[native] : undefined
  return known ? { ...choice, finish_reason: known, native_finish_reason: native } : choice
}
