import type { z } from 'zod'
import { providerSpec, type Target } from '../contract/provider.ts'
import type { Call } from '../kernel/call/call.ts'
import type { ModelRequest, Operation } from '../kit/canonical/forms.ts'
import { fitted } from '../plugins/upstream/delivery/tool-names.ts'
import { providerOf } from '../plugins/upstream/directory/provider.ts'
import { callWith } from './chain.ts'

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
  const said: Partial<ModelRequest> =
    operation === 'chat' ? { messages: [{ role: 'user', content: 'hi' }] } : {}
  const call = callWith({ ...said, ...request }, { id: 'req_1', operation })
  const target: Target = { provider, model: request.model, key: provider.keys[0] }
  return { call: fitted(call, target).call, target }
}
