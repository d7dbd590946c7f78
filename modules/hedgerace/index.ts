import { z } from 'zod'
import { type Call, Countdowns, Counting, defineModule } from '#kernel'
import { byName, detach, Race } from '#kit'
import { earn, newCredit, spend } from './credit.ts'
import { elsewhere } from './elsewhere.ts'
import { Patience } from './patience.ts'

/** Long enough to know a model that is seldom asked, short enough to forget a slow hour. */
const windowMs = 10 * 60_000

export default defineModule({
  settings: z.strictObject({
    delay_ms: z.int().min(1).max(600_000).nullable().default(null).meta({
      title: 'Delay',
      description:
        'Milliseconds to wait for the beginning of an answer before a second provider is asked. Null for the time within which a model usually begins, which is learned.',
    }),
    percentile: z.number().min(50).max(99.9).default(95).meta({
      title: 'Percentile',
      description: 'Percentage of answers that begin within the learned delay.',
    }),
    warmup: z.int().min(1).max(10_000).default(50).meta({
      title: 'Warm-up',
      description: 'Answers of a model within ten minutes that are needed to learn its delay.',
    }),
    max_extra_pct: z.number().min(0).max(100).default(5).meta({
      title: 'Extra calls',
      description: 'Largest number of extra calls per hundred calls.',
    }),
    targets: z
      .record(z.string().min(1).max(256), z.array(z.string().min(1).max(256)).min(1).max(20))
      .default({})
      .meta({
        title: 'Targets',
        description:
          'For a model or a glob, the models to ask second, such as `azure/gpt-4o`. Others are asked at the next provider that serves them.',
      }),
  }),

  setup({ id, settings, memory, targets, use }) {
    const { delay_ms, percentile, warmup, max_extra_pct: pct } = settings
    if (pct === 0) return {}
    // Saved up at this rate: a lower one begins anew.
    const credit = memory(`credit at ${pct} %`, newCredit)
    const windows = () => use(Counting).windows(`${id} first content`, { windowMs, quantiles: true })
    const patience = new Patience(windows, { fixedMs: delay_ms, share: percentile / 100, least: warmup })
    const countdowns = new Countdowns()
    const listed = byName<readonly string[]>(settings.targets)

    /** Begins the second try, if there is a place for it. */
    async function hedge(call: Call, race: Race, ms: number): Promise<void> {
      const { model } = call.request
      const second = await elsewhere(call, listed(model) ?? [model], targets)
      if (!second || race.isOver || !spend(credit)) return
      const { trace, context } = second
      trace.attempts.at(-1)!.reasonNext = `hedged after ${Math.round(ms)} ms`
      trace.decide({
        kind: 'hedge',
        chosen: `${context.provider}/${second.request.model}`,
        reason: `no answer had begun after ${Math.round(ms)} ms`,
      })
      race.begin(second)
    }

    return {
      wraps: ({ context }) => context.provider === undefined,
      async around(call, next) {
        earn(credit, pct)
        const group = `${call.request.model}${call.stream ? ' stream' : ''}`
        const ms = patience.of(group)
        const began = performance.now()
        const race = new Race(call, next)
        const wait = countdowns.make(() => detach('a hedge', hedge(call, race, ms!)))
        race.begin(call)
        wait.set(ms)
        try {
          const reply = await race.answer
          patience.learn(group, performance.now() - began)
          return reply
        } finally {
          wait.clear()
        }
      },
    }
  },
})
