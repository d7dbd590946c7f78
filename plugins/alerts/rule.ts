import { compileGlobs } from '#kit'
import { Groups, type Room } from './groups.ts'
import { type Metric, metricOf } from './metrics.ts'
import type { Filter, RuleRow } from './rule-fields.ts'
import type { Sample } from './sample.ts'
import type { Reading } from './window.ts'

/** The group of a rule that does not group. */
export const wholeGroup = ''
/** The group of calls without a user, or without a provider. */
const noGroup = '(none)'

type Comparison = (value: number, threshold: number) => boolean

const comparisons: Readonly<Record<RuleRow['condition'], Comparison>> = {
  gt: (value, threshold) => value > threshold,
  gte: (value, threshold) => value >= threshold,
  lt: (value, threshold) => value < threshold,
  lte: (value, threshold) => value <= threshold,
}

/** What a check of a group comes to. */
export type Verdict = 'breach' | 'ok' | 'no_data'

/** A rule with the values of its windows. It knows no clock: whoever asks says what time it is. */
export class Rule {
  readonly row: RuleRow
  readonly metric: Metric
  readonly windowMs: number
  readonly groups: Groups
  readonly #room: Room
  readonly #wants: (sample: Place) => boolean
  readonly #groupOf: (sample: Place) => string

  constructor(row: RuleRow, room: Room, groups?: Groups) {
    this.row = row
    this.metric = metricOf(row.metric)
    this.windowMs = row.window_seconds * 1000
    this.groups = groups ?? new Groups(this.metric, this.windowMs, room)
    this.#room = room
    this.#wants = compileFilter(row.filter)
    this.#groupOf = groupers[row.group_by]
  }

  /** The rule after a change of what its windows do not depend on. */
  with(row: RuleRow): Rule {
    return new Rule(row, this.#room, this.groups)
  }

  /** Adds what a call says of the metric; of the past, calls come newest first. */
  take(sample: Sample, mostGroups: number, isPast = false): void {
    const { of, ofAttempt } = this.metric
    if (ofAttempt) {
      const { source, user, key, project, endedAt } = sample
      for (const attempt of sample.attempts) {
        const { provider, model } = attempt
        const place = { source, model, provider, user, key, project }
        this.#add(place, endedAt, ofAttempt(attempt), mostGroups, isPast)
      }
      return
    }
    const value = of(sample)
    if (value !== undefined) this.#add(sample, sample.endedAt, value, mostGroups, isPast)
  }

  /** Whether calls that pass the filter can be of a group, as a rule that grouped so had it. */
  watches(group: string, grouping: RuleRow['group_by']): boolean {
    const { group_by, filter } = this.row
    return grouping === group_by && mayPass[grouping](filter, group)
  }

  /** What holds for a group at a moment. */
  judge({ samples, value }: Reading): Verdict {
    const { condition, threshold, min_samples: least } = this.row
    if (value === undefined || samples < least) return 'no_data'
    return comparisons[condition](value, threshold) ? 'breach' : 'ok'
  }

  #add(place: Place, at: number, value: number, mostGroups: number, isPast: boolean): void {
    if (this.#wants(place)) this.groups.add(this.#groupOf(place), at, value, mostGroups, isPast)
  }
}

/** What filters and groups look at. */
type Place = Pick<Sample, 'source' | 'model' | 'provider' | 'user' | 'key' | 'project'>

const groupers: Readonly<Record<RuleRow['group_by'], (sample: Place) => string>> = {
  none: () => wholeGroup,
  model: ({ model }) => model,
  provider: ({ provider = noGroup }) => provider,
  user: ({ user = noGroup }) => user,
  project: ({ project }) => project,
}

/** Whether a filter lets calls of a group pass, as far as it looks at the field of the group. */
const mayPass: Readonly<Record<RuleRow['group_by'], (filter: Filter, group: string) => boolean>> = {
  none: () => true,
  model: ({ model }, group) => !model || compileGlobs(model)(group),
  provider: ({ provider }, group) => !provider || provider.includes(group),
  user: ({ user_id }, group) => !user_id || user_id.includes(group),
  project: ({ project }, group) => !project || project.includes(group),
}

const usualSources = ['proxy'] as const

function compileFilter(filter: Filter): (sample: Place) => boolean {
  const sources = new Set<string>(filter.source ?? usualSources)
  const model = filter.model && compileGlobs(filter.model)
  const exact = (
    [
      ['provider', filter.provider],
      ['user', filter.user_id],
      ['key', filter.key_id],
      ['project', filter.project],
    ] as const
  ).flatMap(([field, values]) => (values ? [{ field, values: new Set<string | undefined>(values) }] : []))
  return (sample) =>
    sources.has(kindOf(sample.source)) &&
    (!model || model(sample.model)) &&
    exact.every(({ field, values }) => values.has(sample[field]))
}

/** Questions of a module have its name behind their source. */
const kindOf = (source: string): string => (source.startsWith('plugin:') ? 'plugin' : source)
