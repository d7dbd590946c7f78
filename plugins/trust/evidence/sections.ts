import { type Context, Figures, kernelServices, RedTeam, TraceReader, type TraceSummary } from '#kernel'
import { shownChange } from '#kit'
import type { Segments } from '../ledger/segments.ts'
import type { Policies } from '../policies/policies.ts'

export const sectionNames = [
  'ledger',
  'policies',
  'guardrail_events',
  'config_history',
  'access_log',
  'redteam',
  'model_inventory',
] as const
export type SectionName = (typeof sectionNames)[number]

const dayMs = 86_400_000

/** The calls that a pack is about. Times are milliseconds since the epoch, `to` is exclusive. */
export interface Scope {
  readonly from: number
  readonly to: number
  readonly filters: {
    readonly user_id?: string | undefined
    readonly project?: string | undefined
    readonly model?: string | undefined
    readonly provider?: string | undefined
  }
}

export interface Sources {
  readonly context: Pick<Context<unknown>, 'find' | 'use'>
  readonly segments: Segments
  readonly policies: Policies
}

/** The items of each section, one at a time. No text of a call or about a person is among them: ids, facts and figures only. */
export const sections: Readonly<
  Record<SectionName, (sources: Sources, scope: Scope) => AsyncIterable<object>>
> = {
  async *ledger({ segments }, { from, to }) {
    const end = await segments.seqAt(to)
    yield* segments.scan(await segments.seqAt(from), end - 1)
  },

  async *policies({ policies }) {
    for await (const [, row] of policies.rows.scan()) yield row
  },

  async *guardrail_events({ context }, scope) {
    for await (const trace of tracesIn(context, scope))
      for (const finding of trace.findings ?? []) yield { ...callOf(trace), ...finding }
  },

  async *config_history({ context }, { from, to }) {
    const { journal, generation } = context.use(kernelServices.registry)
    for await (const entry of journal.scan()) {
      const at = Date.parse(entry.at)
      if (at >= from && at < to) {
        const changes = entry.changes.map((change) => shownChange(generation.sections, change))
        yield { ...entry, changes }
      }
    }
  },

  async *access_log({ context }, scope) {
    for await (const trace of tracesIn(context, scope)) {
      const { source, operation, wire, key_id, project, status, status_code } = trace
      yield { ...callOf(trace), source, operation, wire, key_id, project, status, status_code }
    }
  },

  async *redteam({ context }, { from, to, filters: { user_id, project, model } }) {
    const campaigns = context.find(RedTeam)
    if (campaigns) yield* campaigns.scan({ from, to, user_id, project, model })
  },

  /** Days are counted whole: figures are kept by the day, and stay when traces go. */
  async *model_inventory({ context }, { from, to }) {
    const days = [Math.floor(from / dayMs), Math.floor((to - 1) / dayMs)] as const
    for (const [model, sums] of await context.use(Figures).byValue('model', ...days)) yield { model, ...sums }
  },
}

const tracesIn = ({ use }: Sources['context'], { from, to, filters }: Scope): AsyncIterable<TraceSummary> =>
  use(TraceReader).scan({ from, to, ...filters })

const callOf = ({ id, at, user_id, model_requested, model, provider }: TraceSummary) => ({
  trace_id: id,
  at: new Date(at).toISOString(),
  user_id: user_id ?? null,
  model_requested,
  model,
  provider: provider ?? null,
})
