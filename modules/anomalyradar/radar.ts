import type { AnomalyDimension, FoundAnomaly } from '#kernel'
import type { Learned } from '#kit'
import type { Limits, Observation } from './observation.ts'
import { bucketMs } from './rates.ts'
import { severityOf } from './severity.ts'
import { type PackedSubject, Subject } from './subject.ts'

/** The models and users that are known, by `nameOf`. */
export type Subjects = Pick<Learned<PackedSubject, Subject>, 'get' | 'add' | 'entries'>

/** Under which name a model of a provider is known, or a user. */
export const nameOf = {
  model: (provider: string, model: string): string => `model ${provider}/${model}`,
  user: (user: string): string => `user ${user}`,
}

/** Learns from calls what is usual, and finds what is not. Lives in the first thread. */
export class Radar {
  readonly #subjects: Subjects
  readonly #found: (anomaly: FoundAnomaly) => void
  readonly #dimensions: AnomalyDimension[] = []
  #limits: Limits | undefined
  /** When the present bucket ends; the first is a part of one, and says nothing. */
  #bucketEnd = 0
  #isWhole = false

  constructor(subjects: Subjects, found: (anomaly: FoundAnomaly) => void) {
    this.#subjects = subjects
    this.#found = found
  }

  /** Learns a call, and returns what of it is unusual: nothing for most calls. */
  learn(observation: Observation): FoundAnomaly | undefined {
    const { at, provider, model, user, limits } = observation
    if (at >= this.#bucketEnd) this.turn(at)
    this.#limits = limits
    const dimensions = this.#dimensions
    dimensions.length = 0
    if (provider !== undefined && model !== undefined)
      this.#subject('model', model, provider).learn(observation, dimensions)
    if (user !== undefined) this.#subject('user', user, undefined).learn(observation, dimensions)
    return dimensions.length === 0 ? undefined : this.#unusual(observation)
  }

  /** Closes the bucket if its time is over. Buckets that nobody was there for are left out. */
  turn(now: number): void {
    if (now < this.#bucketEnd) return
    const isOver = this.#isWhole && now < this.#bucketEnd + bucketMs
    const middle = this.#bucketEnd - bucketMs / 2
    for (const [, subject] of this.#subjects.entries()) {
      if (isOver) this.#close(subject, middle)
      else subject.rates.forget()
    }
    this.#isWhole = this.#bucketEnd > 0 && now < this.#bucketEnd + bucketMs
    this.#bucketEnd = (Math.floor(now / bucketMs) + 1) * bucketMs
  }

  #subject(by: Subject['by'], name: string, provider: string | undefined): Subject {
    const known = provider === undefined ? nameOf.user(name) : nameOf.model(provider, name)
    return this.#subjects.get(known) ?? this.#subjects.add(known, new Subject({ by, provider, name }))
  }

  #unusual({ trace, provider, model, user, project, limits }: Observation): FoundAnomaly {
    const [first, ...rest] = this.#dimensions.toSorted((a, b) => b.score - a.score)
    const anomaly: FoundAnomaly = {
      kind: 'call',
      severity: severityOf(first!.score, limits.z),
      scope: { provider, model, user, project },
      dimensions: [first!, ...rest],
      traces: [trace],
    }
    this.#found(anomaly)
    return anomaly
  }

  #close(subject: Subject, middle: number): void {
    subject.version += 1
    const limits = this.#limits
    const isKnown = limits !== undefined && subject.calls >= limits.warmup
    const { by, provider, name } = subject
    for (const { traces, ...rate } of subject.rates.close(middle, isKnown ? limits : undefined)) {
      this.#found({
        kind: 'rate',
        severity: severityOf(rate.score, limits!.z),
        scope: by === 'user' ? { user: name } : { provider, model: name },
        dimensions: [{ ...rate, by }],
        traces,
      })
    }
  }
}
