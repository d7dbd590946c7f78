import type { Occurrence } from '../kernel/events.ts'
import { guardedToken } from '../kernel/token.ts'

/** An address that another plugin sends to. */
export interface WebhookReceiver {
  readonly url: string
  readonly format: 'json' | 'slack' | 'discord' | 'pagerduty'
  /** PagerDuty's integration key. */
  readonly routingKey?: string
}

/** What has come of a delivery so far. */
export interface WebhookDelivery {
  readonly status: 'pending' | 'success' | 'failed' | 'dropped'
  readonly attempts: number
  /** Of the last attempt. */
  readonly error: string | undefined
}

/** Sends for other plugins: signed, tried again, on disk from the moment of the answer, and shown with all deliveries. */
export interface WebhookSender {
  has(id: string): Promise<boolean>
  /**
   * Queues an occurrence for webhooks by their ids, also for those that did not subscribe to it, and for addresses, which become
   * webhooks of the owner until their last delivery is forgotten. Each gets it once, however often it is asked. Returns the ids of the
   * webhooks, in the same order; undefined for one that does not exist.
   */
  send(
    occurrence: Occurrence,
    owner: string,
    to: readonly (string | WebhookReceiver)[],
  ): Promise<(string | undefined)[]>
  /** Undefined when there is no such delivery, or not any more. */
  delivery(occurrence: string, webhook: string): Promise<WebhookDelivery | undefined>
}

export const WebhookSender = guardedToken<WebhookSender>('webhook-sender')
