import { z } from 'zod'
import { defineArea, kernelServices, WebhookSender } from '#kernel'
import { personalOfUsers } from '#kit'
import { Deliveries } from './deliveries.ts'
import { Dispatch } from './dispatch.ts'
import { FirstAttempts } from './first-attempts.ts'
import { PersonalDeliveries } from './personal-deliveries.ts'
import { prune } from './pruning.ts'
import { addDeliveryRoutes } from './routes/deliveries.ts'
import { addWebhookRoutes } from './routes/webhooks.ts'
import { senderOf } from './sender.ts'
import { Subscriptions } from './subscriptions.ts'
import { WebhookTest } from './test-event.ts'
import { Webhooks } from './webhooks.ts'

const hourMs = 3_600_000

export default defineArea({
  settings: z.strictObject({
    retry_delays_s: z.array(z.number().min(0).max(86_400)).max(10).default([5, 30, 300]).meta({
      title: 'Pauses',
      description: 'Seconds before the second attempt of a delivery, the third and so on.',
    }),
  }),

  async setup(context) {
    const { store, memory, own, use, onAny, event, every, personal, provide, settings } = context
    event(WebhookTest)
    const webhooks = new Webhooks(store, () => use(kernelServices.secrets))
    const subscriptions = new Subscriptions(context, webhooks)
    own(await webhooks.load())
    const deliveries = new Deliveries(store, webhooks, () => use(kernelServices.secrets))
    const dispatch = new Dispatch(context, {
      webhooks,
      deliveries,
      first: memory('first-attempts', () => new FirstAttempts()),
      delaysMs: settings.retry_delays_s.map((seconds) => seconds * 1000),
    })
    onAny((_, occurrence) => deliveries.take(occurrence))
    every(hourMs, () => prune(webhooks, deliveries))
    provide(WebhookSender, senderOf(webhooks, deliveries))
    const ofUsers = new PersonalDeliveries(deliveries)
    personal(
      personalOfUsers({ count: (id) => ofUsers.count(id), erase: (id) => ofUsers.erase(id) }, ['request']),
    )
    addWebhookRoutes(context, { webhooks, subscriptions, deliveries })
    addDeliveryRoutes(context, webhooks, deliveries, dispatch)
  },
})
