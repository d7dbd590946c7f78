import type { Dropin } from './dropins.ts'

/** Has calls of the project `odd` ask a model without a price before the one that answers. */
export const askedTwice: Dropin = {
  manifest: { stage: 'deliver', failure: 'closed', permissions: ['body:read'] },
  setup: `return {
    wraps: ({ context }) => context.project === 'odd' && context.source === 'proxy',
    async around(call, next) {
      const reply = await next(call.withRequest({ model: 'sim-unpriced' }))
      if (reply.kind === 'stream') for await (const _ of reply.chunks) {}
      return next(call)
    } }`,
}
