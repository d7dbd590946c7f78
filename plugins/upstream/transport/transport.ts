import {
  type Cancel,
  Cohort,
  Countdowns,
  type Fault,
  type Target,
  type Timeouts,
  type UpstreamRequest,
} from '#kernel'
import { Connections } from './connections.ts'
import { FaultyAnswer, playFault } from './faults.ts'
import { type AnswerLimits, UpstreamAnswer } from './upstream-answer.ts'

export interface TransportOptions {
  /** How long the connections to an origin take new requests. Ten minutes by default. */
  readonly connectionMs?: number
  /** Bounds on every answer. */
  readonly limits?: AnswerLimits
  /** The cohort that answers go on in step with; by default one of their own. */
  readonly cohort?: Cohort
}

/**
 * Carries requests to providers. Those that offer HTTP/2 get it: a burst then shares a connection instead of waiting
 * for a handshake each. Others have a connection for each request under way.
 */
export class Transport {
  readonly #connections: Connections
  readonly #limits: AnswerLimits
  readonly #cohort: Cohort
  readonly #countdowns = new Countdowns()

  constructor({ connectionMs = 10 * 60_000, limits = {}, cohort = new Cohort() }: TransportOptions = {}) {
    this.#connections = new Connections(connectionMs)
    this.#limits = limits
    this.#cohort = cohort
  }

  /**
   * Sends a request; resolves when the status line is there. Rejects with an UpstreamError or the cancel's reason. With a fault
   * the answer has it, or is one that no provider gave.
   */
  send(
    request: UpstreamRequest,
    target: Target,
    cancel: Cancel,
    timeouts: Timeouts,
    fault?: Fault,
  ): Promise<UpstreamAnswer> {
    const { pool, path } = this.#connections.to(request.url)
    const { method, headers, body = null } = request
    headers['accept-encoding'] ??= 'identity'
    const answer = new UpstreamAnswer({
      target,
      cancel,
      timeouts,
      limits: this.#limits,
      cohort: this.#cohort,
      countdowns: this.#countdowns,
    })
    if (fault && playFault(answer, fault)) return answer.head
    const handler = fault ? new FaultyAnswer(answer, fault) : answer
    pool.dispatch({ path, method, headers, body, headersTimeout: 0, bodyTimeout: 0 }, handler)
    answer.connecting()
    return answer.head
  }

  /** Closes every connection; running requests are cut. */
  close(): Promise<void> {
    return this.#connections.close()
  }
}
