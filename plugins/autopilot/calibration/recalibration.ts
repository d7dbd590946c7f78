import type { Context, Principal } from '#kernel'
import type { Configured } from '../configuration/configured.ts'
import type { Calibrations } from './calibrations.ts'
import { planOf } from './plan.ts'
import type { CalibrationRow } from './rows.ts'

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 }

/** Begins calibrations by itself, in the name of the admin who began the last one. */
export class Recalibration {
  readonly #context: Pick<Context<unknown>, 'use' | 'log'>
  readonly #configured: Configured
  readonly #calibrations: Calibrations

  constructor(
    context: Pick<Context<unknown>, 'use' | 'log'>,
    configured: Configured,
    calibrations: Calibrations,
  ) {
    this.#context = context
    this.#configured = configured
    this.#calibrations = calibrations
  }

  /** Begins one if it is time for it. */
  async check(now = Date.now()): Promise<void> {
    const { enabled, auto_recalibrate } = this.#configured.current
    const last = await this.#last()
    if (enabled && last && last.status !== 'running' && isDue(last, auto_recalibrate.every, now))
      await this.#begin(last)
  }

  /** Calibrates a model that was suspended. */
  async drifted(model: string): Promise<void> {
    const last = await this.#last()
    if (this.#configured.current.auto_recalibrate.on_drift && last && last.status !== 'running')
      await this.#begin(last, [model])
  }

  async #last(): Promise<CalibrationRow | undefined> {
    return (await this.#calibrations.rows.list({ index: 'created', reverse: true, limit: 1 })).items[0]
  }

  async #begin(last: CalibrationRow, candidates?: readonly string[]): Promise<void> {
    const principal: Principal = { userId: undefined, tenant: undefined, ...last.principal }
    try {
      const asked = { candidates }
      await this.#calibrations.begin(
        await planOf(this.#context, this.#configured, asked, { principal, ip: last.ip }),
      )
    } catch (error) {
      this.#context.log.warn({ err: error }, 'a calibration of autopilot could not begin by itself')
    }
  }
}

/** Whether so much time (`12h`, `7d`) has passed since a calibration. */
export function isDue(
  { created_at }: Pick<CalibrationRow, 'created_at'>,
  every: string | null,
  now: number,
): boolean {
  if (every === null) return false
  return now - Date.parse(created_at) >= Number.parseInt(every, 10) * unitMs[every.at(-1)!]!
}
