import { Counting, type OnceContext } from '#kernel'
import { detach } from '#kit'
import { type ArmFigures, Judge, type Remembered, type Result } from './judge.ts'
import type { Move, Rollout, Standing } from './rollout.ts'
import type { Defined, Rollouts } from './rollouts.ts'

/** A result on its way to the first thread. */
export interface Reported extends Result {
  readonly id: string
  readonly run: number
}

interface Seen {
  key: string
  calls: number
}

type Parts = Pick<OnceContext, 'use' | 'memory'>

/**
 * Takes rollouts on their course, in the first thread: back when a result shows the canary outside of its bounds, and one step on
 * when a step has had its time and its calls. After a restart a step needs its calls again.
 */
export class Course {
  readonly #parts: Parts
  readonly #rollouts: Rollouts
  readonly #definedAs: (id: string) => Defined | undefined
  /** Answered calls of the present step, by rollout. */
  readonly #seen: Map<string, Seen>

  constructor(parts: Parts, rollouts: Rollouts, definedAs: (id: string) => Defined | undefined) {
    this.#parts = parts
    this.#rollouts = rollouts
    this.#definedAs = definedAs
    this.#seen = parts.memory('steps', () => new Map<string, Seen>())
  }

  learn(reported: Reported): void {
    const defined = this.#definedAs(reported.id)
    const standing = this.#rollouts.standing(reported.id)
    if (!defined || standing?.status !== 'running' || standing.run !== reported.run) return
    const fault = this.#judge(defined, standing).learn(reported)
    if (fault !== undefined) {
      this.#move(defined, standing, { status: 'rolled_back', percent: 0, reason: fault })
    } else if (reported.arm === 'canary' && !reported.failed && this.#isOver(defined, standing)) {
      this.#move(defined, standing, nextOf(defined.rollout, standing))
    }
  }

  /** What both models did in the window of a rollout. */
  figures(defined: Defined, standing: Standing): { stable: ArmFigures; canary: ArmFigures } {
    const judge = this.#judge(defined, standing)
    return { stable: judge.figures('stable'), canary: judge.figures('canary') }
  }

  /** Whether the present step has had its time and its calls, this one included. */
  #isOver({ id, rollout }: Defined, { run, percent, since }: Standing): boolean {
    const key = `${run} ${percent}`
    const seen = this.#seen.get(id)
    const calls = seen?.key === key ? seen.calls + 1 : 1
    this.#seen.set(id, { key, calls })
    return calls >= rollout.min_calls && Date.now() - Date.parse(since) >= rollout.step_s * 1000
  }

  #judge({ id, rollout }: Defined, { run }: Standing): Judge {
    const windowMs = rollout.window_s * 1000
    const windows = this.#parts
      .use(Counting)
      .windows(`canarydeploy ${windowMs}`, { windowMs, quantiles: true })
    const remembered = this.#parts.memory('stable', () => new Map<string, Remembered>())
    return new Judge(windows, remembered, `${id} ${run}`, rollout)
  }

  #move(defined: Defined, standing: Standing, move: Move): void {
    detach('a step of a rollout', this.#rollouts.move(defined, standing, move))
  }
}

function nextOf({ steps }: Rollout, { percent }: Standing): Move {
  const next = steps.find((step) => step > percent)
  return next === undefined
    ? { status: 'completed', percent: 100, reason: 'the last step has passed within bounds' }
    : { status: 'running', percent: next, reason: `${percent} % passed within bounds` }
}
