import { z } from 'zod'
import {
  type Call,
  defineModule,
  isGatewayError,
  isUpstreamError,
  type Next,
  type Reply,
  type UpstreamError,
} from '#kernel'
import { explainNext } from '#kit'
import { Endpoints } from './endpoints.ts'
import { addRoutes } from './routes.ts'
import { compileSimple, simpleSchema } from './simple.ts'

export default defineModule({
  settings: z.strictObject({
    providers: z
      .array(z.string().regex(/^[a-z0-9][a-z0-9_-]*$/, 'expected the name of a provider'))
      .max(50)
      .default([])
      .meta({
        title: 'Providers',
        description:
          'Names of the providers that are local servers. If empty, all configured providers on this machine or in its private network.',
      }),
    interval_s: z.number().min(0.1).max(3600).default(10).meta({
      title: 'Interval',
      description: 'Seconds between two checks of a server and its list of models.',
    }),
    simple: simpleSchema.optional().meta({
      title: 'Simple calls',
      description: 'A local model that answers simple calls in place of the requested model.',
    }),
  }),

  setup(context) {
    const { settings, every, own, slot } = context
    const endpoints = new Endpoints(context, settings.providers)
    own(() => endpoints.forget())
    every(settings.interval_s * 1000, () => endpoints.sync(), { inEachThread: true })
    own(soon(() => endpoints.sync()))
    addRoutes(context, endpoints)

    const simpleOf = settings.simple && compileSimple(settings.simple, endpoints)
    /** Servers that have failed this call. */
    const failed = slot(() => new Set<string>())

    const moves = (error: unknown): error is UpstreamError =>
      isUpstreamError(error) &&
      endpoints.find(error.provider) !== undefined &&
      (error.status >= 500 || error.status === 429)

    /** As routing chooses; elsewhere when a local server fails. */
    async function routed(call: Call, next: Next): Promise<Reply> {
      try {
        return await next(call)
      } catch (error) {
        if (!moves(error)) throw error
        call.cancel.check()
        failed(call).add(error.provider)
        explainNext(call, error, 'another provider than the local one')
        return await next(call).catch((second: unknown) => {
          throw isGatewayError(second) && second.type === 'no_target' ? error : second
        })
      }
    }

    return {
      eligible: ({ provider }, call) => (failed(call).has(provider) ? 'it has failed this call' : undefined),
      prefers({ provider, model }) {
        if (endpoints.serves(provider, model)) return 1
        return endpoints.find(provider)?.status === 'down' ? -1 : 0
      },
      varies: (call) => simpleOf?.(call),
      wraps: ({ context: { provider } }) =>
        provider === undefined && (simpleOf !== undefined || endpoints.all.length > 0),
      async around(call, next) {
        const model = simpleOf?.(call)
        if (model === undefined) return await routed(call, next)
        try {
          const reply = await next(call.withRequest({ model }))
          call.trace.decide({
            kind: 'target',
            chosen: model,
            reason: 'a simple call',
            considered: [model, call.request.model],
          })
          return reply
        } catch (error) {
          // Whatever a local model cannot do, the requested one may.
          if (!isGatewayError(error)) throw error
          call.cancel.check()
          explainNext(call, error, 'the requested model')
          return await routed(call, next)
        }
      },
      attempted({ provider, error }) {
        if (error && error.fault !== 'status') endpoints.lost(provider, error.message)
      },
    }
  },
})

/** Runs something as soon as it can, which is not before all plugins have started; returns what gives up. */
function soon(run: () => Promise<void>): () => void {
  let timer: NodeJS.Timeout | undefined
  const attempt = (): void => void run().catch(() => timer && wait(retryMs))
  const wait = (ms: number): void => {
    timer = setTimeout(attempt, ms)
  }
  wait(0)
  return () => {
    clearTimeout(timer)
    timer = undefined
  }
}

const retryMs = 200
