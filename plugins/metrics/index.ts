import { z } from 'zod'
import { defineArea, forbidden, kernelServices } from '#kernel'
import { collect } from './collecting.ts'
import { type Highest, type Queues, readings } from './readings.ts'
import { soon } from './soon.ts'
import { exposition } from './text.ts'

export default defineArea({
  settings: z.strictObject({
    users: z.array(z.string().min(1).max(100)).max(100).default([]).meta({
      title: 'Users',
      description: 'Ids of users whose keys may read the metrics, beside admins.',
    }),
  }),

  setup(context) {
    const users = new Set(context.settings.users)
    const collected = collect(context)
    const dropped = context.memory<Highest>('dropped', () => ({}))

    /** As they were last told: a busy thread tells of its own later. */
    let queues: Queues = {}
    const readQueues = async (): Promise<void> => {
      queues = await context.use(kernelServices.threads).queues()
    }

    context.route({
      method: 'get',
      path: '/metrics',
      access: 'any',
      summary: 'The metrics of the gateway for Prometheus, for admins and the users that the settings list',
      returns: 'text',
      throws: [403],
      async handle({ principal, header }) {
        if (principal?.type !== 'admin' && !users.has(principal?.userId ?? ''))
          throw forbidden(
            'Metrics are for admin keys, and for users that the setting `users` of the plugin `metrics` lists.',
          )
        await Promise.all([collected.refresh(), soon(readQueues())])
        const { sums } = collected
        const inFlight = collected.inFlight()
        const { leftOut } = sums
        const read = readings({ use: context.use, inFlight, queues, leftOut, dropped })
        header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
        return exposition(sums, read)
      },
    })
  },
})
