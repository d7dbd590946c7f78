import { z } from 'zod'
import {
  CallChains,
  CallFirstContent,
  CallSettled,
  CallStarted,
  CallTraced,
  Configuration,
  defineArea,
  Figures,
  kernelServices,
  ModuleChanged,
  TraceReader,
  UsageRecords,
} from '#kernel'
import { daysOf, personalOfUsers, retained } from '#kit'
import { Arrangements, keeperOf } from './arrangements.ts'
import { raiseUsage } from './behind.ts'
import { callChains } from './explain/chains.ts'
import { figuresOf } from './figures.ts'
import { firstTokenOf, startedOf, usersOf } from './live.ts'
import { liveFor } from './publishing.ts'
import { type BodyRules, record } from './recorder.ts'
import { forget, newRing } from './ring.ts'
import { costRoutes } from './routes/costs.ts'
import { liveRoute } from './routes/live.ts'
import { overviewRoute } from './routes/overview.ts'
import { statusRoute } from './routes/status.ts'
import { timeseriesRoute } from './routes/timeseries.ts'
import { explainRoute, traceRoutes } from './routes/traces.ts'
import type { TraceRow } from './row.ts'
import { traceSeals } from './trace-seals.ts'
import { Traces } from './traces.ts'
import { guardrailOf, itemOf } from './view.ts'

const flushMs = 250
const liveEvents = 2000
/** After a start, in milliseconds. */
const soonMs = 1000

const wasBehind = 'after an unclean end, the usage of users was lower than in their traces and was raised'

const unfound =
  'repeats of earlier versions could not be attributed to users; a request for the data of one tries again'

const days = z.number().min(0.01).max(36_500)

export default defineArea({
  settings: z.strictObject({
    bodies: z.enum(['full', 'off']).default('full').meta({
      title: 'Bodies',
      description: 'Whether requests and answers are stored with their traces, after redaction.',
    }),
    max_body_bytes: z.int().min(1024).max(33_554_432).default(1_048_576).meta({
      title: 'Largest body',
      description:
        'Bytes that are stored of each request and answer. Only the beginning of a larger one is stored.',
    }),
    retention_days: z
      .strictObject({
        rows: days.optional().meta({ title: 'Traces', description: 'Days after which a trace is deleted.' }),
        bodies: days
          .optional()
          .meta({ title: 'Bodies', description: 'Days after which its bodies are deleted.' }),
      })
      .prefault({})
      .meta({
        title: 'Retention',
        description:
          'The former place of the ages of traces and bodies. What is set here holds in place of the ages of the module retentionwipe, except for projects that have ages of their own there.',
      }),
  }),

  setup(context) {
    const { settings } = context
    const traces = new Traces(context.store, flushMs, traceSeals(context))
    traces.prepare().catch((err: unknown) => context.log.error({ err }, 'older traces could not be indexed'))
    context.inFirstThread('repeats', () => {
      traces.findRepeats().catch((err: unknown) => context.log.error({ err }, unfound))
    })(undefined)
    context.own(() => traces.queued())
    const arrangements = new Arrangements({
      store: context.store,
      startedAt: context.use(kernelServices.runtime).startedAt,
      find: (generation) => context.use(kernelServices.registry).arrangement(generation),
      read: async () => context.find(Configuration)?.read(),
    })
    const keepArrangement = keeperOf(context, arrangements)
    const state = context.use(kernelServices.storeState)
    if (state.endedUncleanly) {
      let isCompared = false
      // After all plugins have started, because the plugin with the usage may start after this one.
      context.every(soonMs, async () => {
        const records = context.find(UsageRecords)
        if (isCompared || !records) return
        const users = await raiseUsage(traces, records, new Date())
        isCompared = true
        if (users > 0) context.log.warn({ users }, wasBehind)
      })
    }
    const ring = context.memory('live', () => newRing(liveEvents))
    const rules: BodyRules = {
      get store() {
        return settings.bodies === 'full' && state.hasRoom
      },
      maxBytes: settings.max_body_bytes,
    }
    const live = liveFor(context, ring)
    const finished = (row: TraceRow): void => {
      const { id, user_id: userId, source_user_id: sourceUserId, findings = [] } = row
      const users = { userId, sourceUserId }
      for (const found of findings)
        live(() => ({ event: 'guardrail', ...users, data: () => ({ trace_id: id, ...guardrailOf(found) }) }))
      live(() => ({ event: 'request.finished', ...users, data: () => itemOf(row) }))
    }

    context.on(CallStarted, ({ call }) => {
      // A call can outlive its generation, whose hash nobody could read then.
      keepArrangement(call.context.generation)
      live(() => ({
        event: 'request.started',
        ...usersOf(call),
        data: startedOf(call),
      }))
    })
    context.on(CallFirstContent, ({ call }) =>
      live(() => ({
        event: 'request.first_token',
        ...usersOf(call),
        data: firstTokenOf(call),
      })),
    )
    context.event(CallTraced)
    context.on(CallSettled, (settled) => {
      const trace = record(traces, settled, rules)
      finished(trace)
      context.emit(CallTraced, { trace }, { cause: settled.call })
    })
    context.on(ModuleChanged, (data) =>
      live(() => ({ event: 'module.changed', userId: null, data: () => data })),
    )
    const { rows, bodies } = settings.retention_days
    const ages = retained(context, {
      own: { traces: rows, bodies },
      sweep: async (ages) => {
        await traces.prune({ traces: ages('traces'), bodies: ages('bodies') })
        await arrangements.prune()
      },
    })

    context.own(context.use(kernelServices.queues).add('traces', () => traces.status()))
    context.provide(TraceReader, traces)
    context.provide(CallChains, callChains(traces, arrangements))
    context.provide(Figures, figuresOf(traces))
    context.personal(
      personalOfUsers(
        {
          count: (id) => traces.countOf(id),
          erase(id) {
            forget(ring, id)
            return traces.eraseOf(id)
          },
        },
        ['request'],
      ),
    )
    traceRoutes(context, {
      traces,
      arrangements,
      rules,
      keptDays: (project) => daysOf(ages('traces'), project),
      added: finished,
    })
    explainRoute(context, traces, arrangements)
    overviewRoute(context, traces)
    costRoutes(context, traces)
    timeseriesRoute(context, traces)
    liveRoute(context, ring)
    statusRoute(context, { traces, ring, flushMs, settings, ages, state })
  },
})
