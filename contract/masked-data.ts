import type { Call } from '../kernel/call/call.ts'
import { token } from '../kernel/token.ts'

/** The values of which a provider, and the modules on the way of its answer, see placeholders only. */
export interface MaskedData {
  /**
   * Puts the values of a call back into a text, to judge what its client will get; undefined where the call has none. Whatever
   * leaves the module that asks goes without them: they are put back for the client alone.
   */
  restorer(call: Call): ((text: string) => string) | undefined
}

/** Offered by the module that masks; from memory, once the stage `inspect` has seen the request. */
export const MaskedData = token<MaskedData>('masked-data')
