import { type Age, type RecordClass, Retention, RetentionDue } from '../../contract/retention.ts'
import type { Context } from '../../kernel/contract/context.ts'

const hourMs = 3_600_000

/** How long records are kept unless somebody says otherwise, in days. */
export const usualDays: Readonly<Record<RecordClass, number>> = { traces: 30, bodies: 30, events: 90 }

interface Keeper {
  /** Days that the keeper's own settings say for a class; they hold in place of what the gateway says for all. */
  readonly own?: Readonly<Partial<Record<RecordClass, number | undefined>>>
  /** Deletes what is past its age. Never runs twice at a time; a failure is logged. */
  readonly sweep: (ages: Ages) => Promise<unknown>
}

type Ages = (of: RecordClass) => Age

/**
 * Has a plugin delete its records when they are past their age: whenever `RetentionDue` says so, or every hour while no plugin
 * offers `Retention`. Returns the ages that hold at present.
 */
export function retained(
  { find, on, every }: Pick<Context<unknown>, 'find' | 'on' | 'every'>,
  { own = {}, sweep }: Keeper,
): Ages {
  const ages: Ages = (of) => {
    const { days, projects } = find(Retention)?.ages[of] ?? { days: usualDays[of], projects: {} }
    return { days: own[of] ?? days, projects }
  }
  let running: Promise<unknown> | undefined
  const sweepOnce = (): Promise<unknown> => {
    running ??= sweep(ages).finally(() => {
      running = undefined
    })
    return running
  }
  on(RetentionDue, sweepOnce)
  every(hourMs, async () => {
    if (!find(Retention)) await sweepOnce()
  })
  return ages
}

/** The age of the records of a project, in days. */
export const daysOf = ({ days, projects }: Age, project: string): number =>
  Object.hasOwn(projects, project) ? projects[project]! : days
