import { z } from 'zod'
import { type Call, defineModule, type Next, type Reply } from '#kernel'
import { answerKey, answerSharing, cacheDirectives, circleOf } from '#kit'
import { sharedFailure } from './failures.ts'
import { Flight } from './flight.ts'

export default defineModule({
  settings: z.strictObject({
    share: answerSharing,
    max_bytes: z
      .int()
      .min(1024)
      .max(256 * 1024 * 1024)
      .default(1024 * 1024)
      .meta({
        title: 'Kept of a stream',
        description:
          'Bytes that are kept of a running stream for calls that come later. Of a longer stream only its newest part is kept, and no further call joins it.',
      }),
  }),

  setup({ id, settings: { share, max_bytes } }) {
    const flights = new Map<string, Flight>()

    function lead(key: string, call: Call, next: Next): Promise<Reply> {
      const flight = new Flight(call, max_bytes, () => {
        if (flights.get(key) === flight) flights.delete(key)
      })
      flights.set(key, flight)
      return flight.lead(next)
    }

    async function join(flight: Flight, call: Call): Promise<Reply> {
      const reply = await flight.join(call)
      const { served } = flight.first.trace
      const origin = served && { provider: served.provider, model: served.model }
      call.trace.cached = { kind: 'exact', ageS: 0, origin }
      call.trace.note(id, 'joined', { first: flight.first.id })
      call.trace.header('x-inflight', 'joined')
      return reply
    }

    return {
      async around(call, next) {
        if (isAlone(call)) return next(call)
        const key = answerKey(call, circleOf(call, share))
        for (;;) {
          const flight = flights.get(key)
          if (!flight?.isOpen) return lead(key, call, next)
          try {
            return await join(flight, call)
          } catch (error) {
            call.cancel.check()
            // A limit of the first call's ended it, which is no limit of this one.
            if (flight.isEnded) continue
            const shared = sharedFailure(error)
            if (shared) throw shared
            return next(call)
          }
        }
      },
    }
  },
})

/**
 * Whether a call wants an answer of its own. Those that features of the gateway make do, such as a replay, which may also have
 * keys and bounds that others do not have.
 */
function isAlone({ context: { source, headers } }: Call): boolean {
  const { skip, fresh } = cacheDirectives(headers['cache-control'])
  return source !== 'proxy' || skip || fresh
}
