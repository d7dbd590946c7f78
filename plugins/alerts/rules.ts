import { type Collection, type Context, notFound } from '#kernel'
import { followRows } from '#kit'
import { type RuleRow, ruleRow } from './rule-fields.ts'

export const mostRules = 500

/** The rules, in the store and in the history of the configuration. */
export class Rules {
  readonly rows: Collection<RuleRow>
  /** Stores a rule, or deletes it. */
  readonly set: ReturnType<Context<unknown>['section']>

  constructor({ store, section }: Pick<Context<unknown>, 'store' | 'section'>) {
    this.rows = store.collection('rules', { schema: ruleRow })
    this.set = section<RuleRow>({
      name: 'alerts',
      read: (transaction, id) => transaction.get(this.rows, id),
      write: (transaction, id, row) => {
        if (row) transaction.put(this.rows, id, row)
        else transaction.delete(this.rows, id)
      },
      show: ({ channels, ...row }) => ({
        ...row,
        channels: channels.map(({ key: _, ...channel }) => channel),
      }),
    }) as Rules['set']
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
