import { z } from 'zod'
import { Anomalies, type AnomalyDimension, defineModule } from '#kernel'
import { factName, Learned, languageDetector } from '#kit'
import { answerOf, metrics } from './answer.ts'
import { Baseline, type BaselineRow, baselineRow, type Limits } from './baseline.ts'
import { Collector } from './collector.ts'
import { addRoutes } from './routes.ts'
import { type Answered, type Baselines, Watch } from './watch.ts'

const saveMs = 60_000
/** Models, and templates with their models. */
const mostBaselines = 200

export default defineModule({
  settings: z.strictObject({
    metrics: z
      .array(z.enum(metrics))
      .default([...metrics])
      .meta({ title: 'Metrics', description: 'What of answers is watched.' }),
    baseline_calls: z.int().min(10).max(2000).default(500).meta({
      title: 'Baseline',
      description: 'Calls that a baseline is made of.',
    }),
    window_calls: z.int().min(10).max(2000).default(200).meta({
      title: 'Window',
      description: 'Calls that are compared with it at a time.',
    }),
    psi: z.number().min(0.05).max(10).default(0.25).meta({
      title: 'Stability index',
      description: 'The population stability index above which a window differs; two in a row are a drift.',
    }),
  }),

  async once(context) {
    const { every, inFirstThread, own, slot, store, use } = context
    const baselines: Baselines = new Learned<BaselineRow, Baseline>({
      rows: store.collection('baselines', { schema: baselineRow }),
      most: mostBaselines,
      unpack: (row) => new Baseline(row),
    })
    await baselines.load()
    every(saveMs, () => baselines.write())
    own(() => baselines.flush())
    addRoutes(context, baselines)
    const watch = new Watch(baselines, () => use(Anomalies))
    let drifted: readonly AnomalyDimension[] = []
    const learn = inFirstThread('learn', (answered: Answered) => {
      drifted = watch.learn(answered)
    })
    return {
      languageOf: await languageDetector(),
      /** Learns an answer, and returns what has drifted; in other threads than the first, nothing is returned. */
      learn(answered: Answered): readonly AnomalyDimension[] {
        drifted = []
        learn(answered)
        return drifted
      },
      /** Of a call: several configurations may be for it, and it is learned once. */
      seen: slot<{ isLearned?: true; collector?: Collector }>(() => ({})),
    }
  },

  setup({ id, settings, mode }, { languageOf, learn, seen }) {
    if (settings.metrics.length === 0 || mode === 'shadow') return {}
    const limits: Limits = {
      metrics: settings.metrics,
      baselineCalls: settings.baseline_calls,
      windowCalls: settings.window_calls,
      psi: settings.psi,
    }
    return {
      stream(call) {
        const of = seen(call)
        if (of.collector) return undefined
        of.collector = new Collector(call.trace)
        return of.collector
      },
      settled(outcome, call) {
        const { ending, provider, model } = outcome
        const isAnswered = ending === 'ok' || ending === 'length'
        if (!isAnswered || call.context.source !== 'proxy' || call.trace.cached) return
        if (provider === undefined || model === undefined || seen(call).isLearned) return
        seen(call).isLearned = true
        const body = outcome.body() ?? seen(call).collector?.completion()
        const answer = answerOf(body, outcome, call, languageOf)
        if (!answer) return
        const template = factName(call.trace.facts.template)
        const drifted = learn({ provider, model, template, trace: call.id, answer, limits })
        if (drifted.length === 0) return
        call.trace.note(id, 'drifted', { metrics: [...new Set(drifted.map(({ metric }) => metric))] })
      },
    }
  },
})
