import { defineModule, Jobs } from 'switchyard'
import { z } from 'zod'

const report = z.object({ until: z.string(), calls: z.int() })

export default defineModule({
  settings: z.strictObject({
    schedule: z
      .string()
      .default('30 3 * * *')
      .meta({ title: 'Schedule', description: 'In the form of cron.' }),
    timezone: z.string().default('UTC').meta({ title: 'Time zone', description: 'Of the schedule.' }),
  }),

  async setup(ctx) {
    const { schedule, timezone } = ctx.settings
    const counts = await ctx.store.counters('counts')
    const reports = ctx.store.collection('reports', { schema: report })

    ctx.use(Jobs).cron(
      ctx,
      'report',
      schedule,
      async ({ input: { at }, step }) => {
        const until = new Date(at).toISOString()
        const calls = await step('count', () => counts.get('calls'))
        await reports.put(until, { until, calls })
      },
      { timezone, missed: 'once' },
    )

    ctx.route({
      method: 'get',
      path: '/api/callreport',
      access: 'admin',
      summary: 'The newest report of each night',
      returns: z.object({ reports: z.array(report) }),
      handle: async () => ({ reports: (await reports.list({ limit: 30, reverse: true })).items }),
    })
    return { settled: () => counts.add('calls', 1) }
  },
})
