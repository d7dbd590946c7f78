import type { FormChange } from '#kernel'

/** What an admin should know before a pack changes it. */
export const warningsOf = (changes: readonly FormChange[]): string[] =>
  changes.flatMap((change) => {
    const { section, key, after } = change
    if (section === 'providers' && isElsewhere(change))
      return [`providers.${key}: calls, and the key that is set for it, go to another address.`]
    if (section === 'routes' && after !== null) return ['routes: the whole table is replaced.']
    if (section === 'plugins') return [`plugins.${key}: this changes a part of the gateway itself.`]
    return []
  })

function isElsewhere({ before, after }: FormChange): boolean {
  const addressOf = (form: unknown): unknown => (form as { base_url?: unknown } | null)?.base_url
  return addressOf(after) !== undefined && addressOf(after) !== addressOf(before)
}
