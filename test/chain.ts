import { Call, type CallContext } from '../kernel/call/call.ts'
import type { ChainHooks } from '../kernel/chain/batches.ts'
import type { Entry } from '../kernel/chain/entry.ts'
import { Meter } from '../kernel/chain/meter.ts'
import type { Chunk } from '../kit/canonical/chunk.ts'
import type { ModelRequest } from '../kit/canonical/forms.ts'

/** What runs through a chain, and what a chain is made of. */

interface Parts extends Partial<Omit<ConstructorParameters<typeof Call>[0], 'request' | 'context'>> {
  readonly context?: Partial<CallContext>
}

/** A call that nobody has touched, of a user unless its parts say otherwise. */
export const callWith = (request: Partial<ModelRequest> = {}, { context, ...parts }: Parts = {}): Call =>
  new Call({
    id: 'tr_1',
    operation: 'chat',
    wire: 'chat',
    principal: { type: 'user', keyId: 'key_1', userId: 'usr_1', plan: 'free', tenant: undefined },
    request: { model: 'm', ...request },
    context: {
      project: 'default',
      tags: {},
      sessionId: undefined,
      ip: '127.0.0.1',
      provider: undefined,
      headers: {},
      source: 'proxy',
      generation: 1,
      ...context,
    },
    ...parts,
  })

/** A module in the chain. */
export const entryOf = (id: string, hooks: ChainHooks, more: Partial<Entry> = {}): Entry => ({
  id,
  stage: 'inspect',
  hooks,
  failure: 'closed',
  when: undefined,
  meter: new Meter(),
  ...more,
})

/** A stream of chunks that come one at a time. */
export async function* oneByOne(chunks: readonly Chunk[]): AsyncGenerator<readonly Chunk[]> {
  for (const chunk of chunks) yield [chunk]
}
