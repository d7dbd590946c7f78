import type { Call } from '../../kernel/call/call.ts'

/**
 * Puts values back into a text for which the call has placeholders, to judge what its client will get; undefined where it has none.
 * Whatever the module makes of an answer goes on without them: they are put back for the client alone.
 */
export const revealing = (call: Call): ((text: string) => string) | undefined =>
  call.trace.chain?.revealing?.(call)
