import { z } from 'zod'
import { type Call, defineModule, Pricing, providerError, TokenCounting } from '#kernel'
import { nanoOf, orNone } from '#kit'
import { Overtime } from './overtime.ts'
import { SpendLimit } from './spend.ts'

/** Longest delay of a timer. */
const longestMs = 2_147_483_647

const limitMs = (usual: number, title: string, description: string) =>
  orNone(z.int().min(1).max(longestMs)).default(usual).meta({ title, description })

export default defineModule({
  settings: z.strictObject({
    connect_ms: limitMs(
      5_000,
      'Connecting',
      'Milliseconds to reach the provider, for each attempt; `none` for no limit.',
    ),
    first_byte_ms: limitMs(
      60_000,
      'First byte',
      'Milliseconds until the provider begins to answer; `none` for no limit.',
    ),
    idle_ms: limitMs(30_000, 'Silence', 'Milliseconds between two pieces of an answer; `none` for no limit.'),
    total_ms: limitMs(
      600_000,
      'Total',
      'Milliseconds for the whole call, retries included; `none` for no limit.',
    ),
    max_spend_usd: z.number().positive().max(1e6).optional().meta({
      title: 'Spend',
      description: 'Largest estimated cost of one streaming call in USD; no limit if absent.',
    }),
  }),

  setup(context) {
    const { connect_ms, first_byte_ms, idle_ms, total_ms, max_spend_usd } = context.settings
    const bounds = {
      ...(connect_ms !== 'none' && { connectMs: connect_ms }),
      ...(first_byte_ms !== 'none' && { firstByteMs: first_byte_ms }),
      ...(idle_ms !== 'none' && { idleMs: idle_ms }),
    }
    const overtime =
      total_ms === 'none'
        ? undefined
        : new Overtime(total_ms, ({ cancel }) => cancel.abort(overdue(total_ms)))
    if (overtime) context.own(() => overtime.close())

    return {
      request(call) {
        overtime?.begin(call)
        return call.with({ timeouts: { ...bounds, ...call.timeouts } })
      },
      ...(max_spend_usd !== undefined && {
        stream: (call: Call) =>
          new SpendLimit(call, nanoOf(max_spend_usd), {
            prices: context.use(Pricing),
            tokens: context.use(TokenCounting),
          }),
      }),
      ...(overtime && { settled: (_: unknown, call: Call) => overtime.finish(call) }),
    }
  },
})

const overdue = (ms: number) =>
  providerError(`The call exceeded its limit of ${ms} ms.`, {
    status: 504,
    type: 'timeout',
    module: 'idlekill',
  })
