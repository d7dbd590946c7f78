import type { Anomalies, FoundAnomaly } from '#kernel'
import { detach } from '#kit'

/** So many calls are recorded one by one for a model or a user within a while; more of them are counted on the last record. */
const mostRecords = 5
const whileMs = 300_000
const mostTraces = 10

interface Storm {
  readonly since: number
  records: number
  last: Promise<string> | undefined
  more: number
  traces: string[]
}

/** Hands over what was found, and holds back where the same is found again and again, as when a provider slows down. */
export class Records {
  readonly #anomalies: () => Anomalies
  readonly #storms = new Map<string, Storm>()

  constructor(anomalies: () => Anomalies) {
    this.#anomalies = anomalies
  }

  add(found: FoundAnomaly): void {
    const now = Date.now()
    const { scope, dimensions, traces } = found
    const [{ by }] = dimensions
    const key = `${found.kind} ${by} ${by === 'user' ? scope.user : `${scope.provider}/${scope.model}`}`
    let storm = this.#storms.get(key)
    if (!storm || now - storm.since >= whileMs) {
      storm = { since: now, records: 0, last: undefined, more: 0, traces: [] }
      this.#storms.set(key, storm)
    }
    storm.records += 1
    if (storm.records > mostRecords && storm.last) {
      storm.more += 1
      if (storm.traces.length < mostTraces) storm.traces.push(...traces)
      return
    }
    storm.last = this.#record(found)
    detach('an anomaly', storm.last)
  }

  async #record(found: FoundAnomaly): Promise<string> {
    return this.#anomalies().record(found)
  }

  /** Writes how often more was found since the last time. */
  async flush(): Promise<void> {
    const now = Date.now()
    for (const [key, storm] of [...this.#storms]) {
      const { more, traces, last } = storm
      if (more > 0 && last) {
        storm.more = 0
        storm.traces = []
        await this.#anomalies().repeat(await last, more, traces)
      }
      if (now - storm.since >= whileMs && this.#storms.get(key) === storm) this.#storms.delete(key)
    }
  }
}
