import { Cron } from 'croner'
import { z } from 'zod'
import type { CronOptions, Job, JobDefinition, ScheduledTime } from '#kernel'
import { persist } from '#kit'
import { cancel } from './changes.ts'
import type { Queue } from './queue.ts'
import type { JobRow } from './row.ts'
import type { JobTable } from './table.ts'

/** How late a run may begin and still be in time, in milliseconds. */
const graceMs = 60_000

/** The time a run is for, and the schedule that it comes from: of another one, it is not for this schedule to run. */
const scheduled = z.strictObject({ at: z.number(), schedule: z.string(), timezone: z.string() })

type Scheduled = z.infer<typeof scheduled>

/** Whether what a job was added with is a time of a schedule. */
export const isScheduled = (input: unknown): boolean => scheduled.safeParse(input).success

/** When it is time, as a schedule says. */
export class Schedule {
  readonly #cron: Cron
  readonly pattern: string
  readonly timezone: string

  /** Throws when it is no schedule, or never comes. */
  constructor(pattern: string, timezone: string, now: number) {
    this.pattern = pattern
    this.timezone = timezone
    this.#cron = new Cron(pattern, { timezone, paused: true })
    if (this.after(now) === undefined) throw new TypeError(`The schedule ${pattern} never comes`)
  }

  after(time: number): number | undefined {
    return this.#cron.nextRun(new Date(time))?.getTime()
  }

  isOf(input: unknown): boolean {
    const { data } = scheduled.safeParse(input)
    return data?.schedule === this.pattern && data.timezone === this.timezone
  }
}

/** The jobs of a schedule: one for each time that comes, and each adds the next. */
export function cronDefinition(
  run: (job: Job<ScheduledTime>) => unknown,
  { missed = 'once', delaysMs = [], timeoutMs = 3_600_000 }: CronOptions,
  { now, planNext }: { readonly now: () => number; readonly planNext: () => Promise<void> },
): JobDefinition<Scheduled> {
  return {
    input: scheduled,
    delaysMs,
    timeoutMs,
    keep: { days: 30, most: 100 },
    async run(job) {
      await planNext()
      // Said once, so that what has begun in time goes on after a crash, however late.
      const isLate = (): boolean => now() - job.input.at > graceMs
      if (missed === 'skip' && (await job.step('is late', isLate))) return { skipped: true }
      return run(job)
    },
  }
}

interface PlanParts {
  readonly kind: string
  readonly schedule: Schedule
  readonly queue: Pick<Queue, 'add'>
  readonly table: JobTable
  readonly now: () => number
}

/** Has the next time of a schedule wait, and none of the schedule that it was before. */
export async function plan({ kind, schedule, queue, table, now }: PlanParts): Promise<void> {
  const isIts = (input: unknown): boolean => schedule.isOf(table.contents.show(input))
  const waiting: JobRow[] = []
  for await (const [, row] of table.waiting(kind)) waiting.push(row)
  for (const { id, input } of waiting) {
    if (isIts(input)) continue
    await table.change(id, cancel)
    await table.memos.forget(id)
  }
  if (waiting.some(({ input }) => isIts(input))) return
  const at = schedule.after(now())
  if (at === undefined) return
  const { pattern, timezone } = schedule
  await persist(() => queue.add({ at, schedule: pattern, timezone }, { id: new Date(at).toISOString(), at }))
}
