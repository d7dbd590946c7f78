import type { z } from 'zod'
import { Call } from '../kernel/call/call.ts'
import type { ModelRequest, Operation } from '../kernel/call/canonical.ts'
import { providerOf } from '../kernel/upstream/directory/provider.ts'
import { providerSpec, type Target } from '../kernel/upstream/provider.ts'

interface Manifest {
  readonly id: string
  readonly provider: z.input<typeof providerSpec>
}

/** A call to a provider and where it goes, for tests of the translation alone: nothing is started or sent. */
export function translation(
  { id, provider: spec }: Manifest,
  request: Partial<ModelRequest> & { readonly model: string },
  {
    options = {},
    operation = 'chat',
  }: { readonly options?: Record<string, unknown>; readonly operation?: Operation } = {},
): { call: Call; target: Target } {
  const specs = new Map([[id, providerSpec.parse(spec)]])
  const provider = providerOf(id, { apiKey: 'key', options } as Parameters<typeof providerOf>[1], specs, {})!
  const call = new Call({
    id: 'req_1',
    operation,
    wire: 'chat',
    principal: { type: 'user', keyId: 'key_1', userId: 'usr_1', plan: 'free' },
    request: operation === 'chat' ? { messages: [{ role: 'user', content: 'hi' }], ...request } : request,
    context: {
      project: 'default',
      tags: {},
      sessionId: undefined,
      ip: '127.0.0.1',
      provider: undefined,
      headers: {},
      source: 'proxy',
      generation: 1,
    },
  })
  return { call, target: { provider, model: request.model, key: provider.keys[0] } }
}
