/** How often strangers were refused since the start, in all threads, for whoever watches over the gateway. */
export class Refusals {
  /** Keys that failed, while failures are limited. */
  failedKeys = 0
  /** Signups beyond those that one address may make. */
  signups = 0
}
