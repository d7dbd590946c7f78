import type { Completion, StructuredOutput } from '../../kit/canonical/forms.ts'
import type { Usage } from '../../kit/canonical/usage.ts'
import type { UpstreamError } from '../../kit/errors.ts'
import type { Cost } from '../contract/models.ts'

/** One try at one provider with one key. */
export interface Attempt {
  /** From 1, in the order in which they began. */
  n: number
  /** Tells it apart from others: the same object in every view of it, for as long as it lives. */
  readonly identity: object
  readonly provider: string
  /** The model's name at the provider. */
  readonly model: string
  /** The key by its last characters; never the whole key. */
  readonly keyHint: string | undefined
  /** Whether it went with a key of the caller's own. */
  readonly ownKey?: boolean
  /** On the monotonic clock, when no module had it wait any more. */
  startedAt: number
  /** Whether the provider was asked: not where its protocol could not write the request. */
  isSent?: boolean
  /** How the model was held to the form of its answer; undefined where the call asked for none. */
  structuredOutput?: StructuredOutput
  status: number | undefined
  latencyMs: number | undefined
  error: UpstreamError | undefined
  /** Why another attempt followed this one. */
  reasonNext: string | undefined
  /** Reads what the provider reported; known when the attempt is over. */
  usage: (() => Usage | undefined) | undefined
  /** Reads what the provider had counted when the answer was left. */
  counted?: () => Usage | undefined
  /** The cost in the provider's report, in USD; undefined where it reports none. */
  costUsd?: () => number | undefined
  /** What came of its answer: the body, or the number of chunks of a stream. */
  came?: () => Completion | number
  /** Its part of what the call cost; known when the call has settled, if it has a price. */
  cost?: Cost | undefined
}
