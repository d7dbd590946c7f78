import { badRequest, type Context, kernelServices, WebhookSender } from '#kernel'
import { webAddress } from '#kit'
import type { ChannelInput, RuleChange } from './input.ts'
import type { ChannelRow } from './rule-fields.ts'

const pagerdutyUrl = 'https://events.pagerduty.com/v2/enqueue'
const keyForm = /^[\w-]{8,200}$/
const shownOfKey = 4

export interface ChannelParts extends Pick<Context<unknown>, 'find' | 'use'> {
  /** Whether there is such a webhook, where others count than those that there are now. */
  readonly hasWebhook?: (id: string) => boolean
}
type Given = Pick<RuleChange, 'channels' | 'channel' | 'action' | 'channel_config'>

/** The channels of an input in any of its forms; undefined where it says nothing of them. Throws a bad request that names the field. */
export async function givenChannels(
  parts: ChannelParts,
  given: Given,
  before: readonly ChannelRow[] = [],
): Promise<ChannelRow[] | undefined> {
  const listed = listOf(given)
  if (!listed) return undefined
  const rows: ChannelRow[] = []
  for (const [i, channel] of listed.entries()) {
    const single = given.channel === undefined ? 'action' : 'channel'
    const [type, target] = given.channels
      ? [`channels.${i}.type`, `channels.${i}.target`]
      : [single, 'channel_config']
    rows.push(await rowOf(parts, channel, { type, target }, before))
  }
  return rows
}

function listOf({ channels, channel, action, channel_config: config }: Given): ChannelInput[] | undefined {
  if (channels === null) return []
  const single = channel ?? action
  if (channel !== undefined && action !== undefined && channel !== action)
    throw refused('action', 'says another channel.')
  if (single !== undefined && channels)
    throw refused('channels', 'stands beside a single channel; give one of them.')
  if (single === undefined) {
    if (config) throw refused('channel_config', 'needs a channel.')
    return channels
  }
  if (single !== 'pagerduty') return [{ type: single, target: config?.url ?? config?.target }]
  return [{ type: single, target: config?.target, ...(config?.url !== undefined && { url: config.url }) }]
}

async function rowOf(
  { find, use, hasWebhook }: ChannelParts,
  { type, target = null, url }: ChannelInput,
  names: { readonly type: string; readonly target: string },
  before: readonly ChannelRow[],
): Promise<ChannelRow> {
  const at = names.target
  if (url !== undefined && type !== 'pagerduty')
    throw refused(at, 'is where the address of this channel stands.')
  switch (type) {
    case 'email':
      throw refused(
        names.type,
        'e-mail needs an SMTP server, which cannot be configured yet; use a webhook, slack, discord or pagerduty.',
      )
    case 'log':
      return { type, target: null, url: null }
    case 'webhook':
      if (target === null) return { type, target, url: null }
      if (/^https?:/i.test(target)) return { type, target, url: addressOf(target, at) }
      if (!(await (hasWebhook?.(target) ?? find(WebhookSender)?.has(target)))) throw noWebhook(target, at)
      return { type, target, url: null }
    case 'slack':
    case 'discord':
      if (target === null) throw refused(at, `${type} needs the address of an incoming webhook.`)
      return { type, target, url: addressOf(target, at) }
    case 'pagerduty': {
      const known = before.find((one) => one.type === type && one.target === target)
      if (known) return { ...known, ...(url !== undefined && { url }) }
      if (target === null || !keyForm.test(target)) throw refused(at, 'pagerduty needs an integration key.')
      const key = use(kernelServices.secrets).encrypt(target)
      return { type, target: `…${target.slice(-shownOfKey)}`, url: url ?? pagerdutyUrl, key }
    }
  }
}

function addressOf(target: string, at: string): string {
  const { data, error } = webAddress.safeParse(target)
  if (data === undefined) throw refused(at, `${error?.issues[0]?.message ?? 'must be an address'}.`)
  return data
}

export const noWebhook = (id: string, at: string) => refused(at, `there is no webhook ${id}.`)

const refused = (param: string, message: string) =>
  badRequest(`body ${param.replaceAll('.', ' › ')}: ${message}`, { param })
