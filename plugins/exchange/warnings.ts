import type { FormChange } from '#kernel'

/** What an admin should know before a pack changes it. */
export const warningsOf = (changes: readonly FormChange[]): string[] =>
  changes.flatMap((change) => {
    const { section, key, after } = change
    if (section === 'providers' && isElsewhere(change, 'base_url'))
      return [`providers.${key}: calls, and the key that is set for it, go to another address.`]
    if (section === 'webhooks' && isElsewhere(change, 'url'))
      return [`webhooks.${key}: events, and the headers and keys that are set for it, go to another address.`]
    if (section === 'routes' && after !== null) return ['routes: the whole table is replaced.']
    if (section === 'plugins') return [`plugins.${key}: this changes a part of the gateway itself.`]
    return []
  })

function isElsewhere({ before, after }: FormChange, field: string): boolean {
  const addressOf = (form: unknown): unknown => (form as Readonly<Record<string, unknown>> | null)?.[field]
  return addressOf(after) !== undefined && addressOf(after) !== addressOf(before)
}
