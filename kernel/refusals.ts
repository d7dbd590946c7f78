/** Counts of refused requests without a valid key since the start, in all threads, for the gateway's status. */
export class Refusals {
  /** Keys that failed, while failures are limited. */
  failedKeys = 0
  /** Signups beyond those that one address may make. */
  signups = 0
}
