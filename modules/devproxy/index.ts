import { z } from 'zod'
import { badRequest, type Call, Chunk, defineModule, GatewayError, Pricing } from '#kernel'
import { costOf, reportOf, timingsOf } from './report.ts'

const header = 'x-debug'
/** Modules in the header of timings; the report has all. */
const mostInHeader = 20

/** What a call asks for, if its key may: to be shown what happens, and also to be stopped before it is sent. */
type Mode = 'show' | 'dry-run'

export default defineModule({
  settings: z.strictObject({
    keys: z.array(z.string().min(1).max(256)).max(1000).default([]).meta({
      title: 'Developer keys',
      description:
        'Ids of the keys whose calls may ask with X-Debug. To all others, the header means nothing.',
    }),
  }),

  setup({ settings, slot, find }) {
    const keys = new Set(settings.keys)
    if (keys.size === 0) return {}
    /** Where a dry run would have gone. */
    const planned = slot<{ target?: string }>(() => ({}))
    const prices = () => find(Pricing)

    const modeOf = (call: Call | undefined): Mode | undefined => {
      if (!call || !keys.has(call.principal.keyId)) return undefined
      const said = String(call.context.headers[header] ?? '').toLowerCase()
      return said === 'true' ? 'show' : said === 'dry-run' ? 'dry-run' : undefined
    }

    return {
      attempt({ provider, model }, call) {
        if (modeOf(call) !== 'dry-run') return
        planned(call).target = `${provider}/${model}`
        throw stopped()
      },
      show: {
        body: (body, call) => (modeOf(call) ? { ...body, debug: reportOf(call, prices) } : undefined),
        stream(call) {
          if (!modeOf(call)) return undefined
          let last: Chunk | undefined
          return {
            push(chunk, out) {
              last = chunk
              out.emit(chunk)
            },
            end(out) {
              // A chunk without a choice would be left out, unless the client asked for the usage.
              const choices = [{ index: 0, delta: {}, finish_reason: null }]
              if (last) out.emit(Chunk.of({ ...last.data, choices, debug: reportOf(call, prices) }))
            },
          }
        },
        error(error, call) {
          return call && modeOf(call) ? withDetails(error, { debug: reportOf(call, prices) }) : error
        },
        headers(headers, call) {
          if (!call || !modeOf(call)) return
          const { served, attempts } = call.trace
          const place = served ?? attempts.at(-1)
          const target = place ? `${place.provider}/${place.model}` : planned(call).target
          if (target !== undefined) headers['x-debug-target'] = target
          headers['x-debug-timings'] = timingsOf(call)
            .slice(0, mostInHeader)
            .map(({ module, hook, ms }) => `${module}.${hook}=${ms}`)
            .join(', ')
          const cost = costOf(served, prices)
          if (cost) headers['x-debug-cost-usd'] = String(cost.total_usd)
        },
      },
    }
  },
})

/** The answer of a dry run: at 200, since nothing is wrong with the call, and in the form of errors, as no model has answered. */
const stopped = () =>
  badRequest('This was a dry run: the call was not sent to the provider.', { status: 200, type: 'dry_run' })

function withDetails(error: GatewayError, more: Readonly<Record<string, unknown>>): GatewayError {
  const { code, message, status, type, param, module, retryAfterS, details } = error
  return new GatewayError(code, message, {
    ...{ status, type, param, module, retryAfterS },
    details: { ...details, ...more },
  })
}
