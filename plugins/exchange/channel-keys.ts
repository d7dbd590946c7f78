import { z } from 'zod'
import { badRequest, type Forms } from '#kernel'

/** As exports show a key: its last characters. */
const masked = /^…/

const pagerduty = z.literal('pagerduty')
/** The forms in which an alert rule names its channels, as far as they hold keys. */
const channels = z.object({ channels: z.array(z.unknown()) })
const channel = z.object({ type: pagerduty, target: z.string() })
const single = z.union([
  z.object({ channel: pagerduty, channel_config: z.object({ target: z.string() }) }),
  z.object({ action: pagerduty, channel_config: z.object({ target: z.string() }) }),
])

/** Throws a bad request for alert rules that hold an integration key of PagerDuty, which a pack would show to everybody who reads it. */
export function refuseChannelKeys({ alerts = {} }: Forms): void {
  for (const [id, form] of Object.entries(alerts))
    for (const [field, target] of keysIn(form))
      if (!masked.test(target)) {
        const param = `content.alerts.${id}.${field}`
        throw badRequest(
          `${param}: no key is kept here; set it on the rule itself, or name a webhook that has it.`,
          { param },
        )
      }
}

function* keysIn(form: unknown): Generator<[field: string, target: string]> {
  const { data } = single.safeParse(form)
  if (data) yield ['channel_config.target', data.channel_config.target]
  for (const [i, one] of (channels.safeParse(form).data?.channels ?? []).entries()) {
    const { data } = channel.safeParse(one)
    if (data) yield [`channels.${i}.target`, data.target]
  }
}
