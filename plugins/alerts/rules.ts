import { type Collection, type Context, type Forms, notFound, type PortableSection } from '#kernel'
import { changed, followRows, rowSection } from '#kit'
import { ruleFields } from './given.ts'
import { noWebhook } from './given-channels.ts'
import { ruleInput } from './input.ts'
import { type ChannelRow, type RuleRow, ruleRow } from './rule-fields.ts'

export const mostRules = 500

/** The rules, in the store and in the history of the configuration. */
export class Rules {
  readonly rows: Collection<RuleRow>
  /** Stores a rule, or deletes it. */
  readonly set: ReturnType<Context<unknown>['section']>

  constructor({ store, section, find, use }: Pick<Context<unknown>, 'store' | 'section' | 'find' | 'use'>) {
    this.rows = store.collection('rules', { schema: ruleRow })
    const asSection: PortableSection<RuleRow> = {
      ...rowSection<RuleRow>({
        name: 'alerts',
        rows: this.rows,
        most: mostRules,
        // A document may bring the webhook beside the rule.
        fieldsOf: (form, before) =>
          ruleFields({ find, use, hasWebhook: () => true }, changed({}, form, ruleInput), before),
        formOf: ({ channels, ...fields }) => ({ ...fields, channels: channels.map(channelForm) }),
        withheld: ({ channels }) =>
          channels.flatMap(({ key }, place) => (key === undefined ? [] : [`channels.${place}.target`])),
        show: ({ channels, ...row }) => ({
          ...row,
          channels: channels.map(({ key: _, ...channel }) => channel),
        }),
      }),
      fits: demandWebhooks,
    }
    this.set = section(asSection) as Rules['set']
  }

  /** Hands over every rule, and then every change. Returns what ends that. */
  follow(take: (id: string, row: RuleRow | undefined) => void): Promise<() => void> {
    return followRows(this.rows, take)
  }

  /** Throws a not found for no such rule. */
  async find(id: string): Promise<RuleRow> {
    const found = await this.rows.get(id)
    if (!found) throw notFound(`There is no alert rule ${id}.`, { param: 'id' })
    return found
  }
}

/** Throws a bad request for a channel that names a webhook which is not there once all this is set. */
function demandWebhooks({ channels }: RuleRow, { webhooks = {} }: Forms): void {
  for (const [i, { type, target, url }] of channels.entries())
    if (type === 'webhook' && url === null && target !== null && !Object.hasOwn(webhooks, target))
      throw noWebhook(target, `channels.${i}.target`)
}

/** A channel as an input has it, with the end of a key only. */
const channelForm = ({ type, target, url }: ChannelRow) => ({
  type,
  target,
  ...(type === 'pagerduty' && { url }),
})
