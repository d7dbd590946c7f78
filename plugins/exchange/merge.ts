import type { Configured, FormChange, Forms } from '#kernel'
import { repairedJson } from '#kit'
import type { InstalledObject } from './shapes.ts'

type Place = Pick<FormChange, 'section' | 'key'>
export type Action = 'create' | 'update' | 'conflict'

const isAt =
  ({ section, key }: Place) =>
  (other: Place): boolean =>
    other.section === section && other.key === key

const formAt = (forms: Forms, { section, key }: Place): unknown => forms[section]?.[key] ?? null

/** Whether forms say something of a key, be it that it is clear. */
const tell = (forms: Forms, { section, key }: Place): boolean => Object.hasOwn(forms[section] ?? {}, key)

/** Fields that were set and that no form shows, as they have secrets. */
const withheld = (content: Forms, change: FormChange): string[] =>
  Object.keys(fieldsOf(formAt(content, change))).filter((field) => !(field in fieldsOf(change.after)))

const fieldsOf = (form: unknown): object => (typeof form === 'object' && form !== null ? form : {})

/**
 * What an uninstall sets: the form of before, without the secrets that the pack has given. They would go to the address of before,
 * whose own secrets are not known any more.
 */
export function restoredForm(
  { before, gave = [], ...place }: InstalledObject,
  secrets: readonly string[],
): unknown {
  if (before === null) return null
  const own = gave.filter((field) => secrets.includes(`${place.section}.${place.key}.${field}`))
  return { ...Object.fromEntries(own.map((field) => [field, null])), ...fieldsOf(before) }
}

/** Whether a key is as an install has left it. */
export const isUntouched = (object: InstalledObject, now: Forms): boolean =>
  repairedJson(formAt(now, object)) === repairedJson(object.after)

/** Keys as sections of forms. */
export function formsOf(objects: readonly (Place & { readonly form: unknown })[]): Forms {
  const forms: Record<string, Record<string, unknown>> = {}
  for (const { section, key, form } of objects) forms[section] = { ...forms[section], [key]: form }
  return forms
}

/**
 * What an install sets: the content, and for keys of the version before that it has no more, if nobody has touched them, what was
 * there first.
 */
export function wantedBy(
  content: Forms,
  held: readonly InstalledObject[],
  { sections: now, secrets }: Pick<Configured, 'sections' | 'secrets'>,
): Forms {
  const dropped = held.filter(
    (object) => !tell(content, object) && object.section in now && isUntouched(object, now),
  )
  const restored = formsOf(dropped.map((object) => ({ ...object, form: restoredForm(object, secrets) })))
  return Object.fromEntries(
    [...new Set([...Object.keys(content), ...Object.keys(restored)])].map((section) => [
      section,
      { ...restored[section], ...content[section] },
    ]),
  )
}

interface Standing {
  readonly held: readonly InstalledObject[]
  /** Whether something that no section shows stands under a key, such as a provider with a key of the environment. */
  readonly isTaken: (place: Place) => boolean
}

/** What a change is for the pack: a key of its own that nobody has touched is updated, and one of somebody else a conflict. */
export function actionOf(change: FormChange, { held, isTaken }: Standing): Action {
  const own = held.find(isAt(change))
  if (own && repairedJson(change.before) === repairedJson(own.after)) return 'update'
  return change.before === null && !isTaken(change) ? 'create' : 'conflict'
}

/** The keys that the pack has set or cleared once changes are made, with what was there before its first version. */
export function objectsAfter(
  content: Forms,
  changes: readonly FormChange[],
  { held, isTaken }: Standing,
): InstalledObject[] {
  const set = changes
    .filter((change) => tell(content, change))
    .map((change) => {
      const own = actionOf(change, { held, isTaken }) === 'update' ? held.find(isAt(change)) : undefined
      const gave = [...new Set([...(own?.gave ?? []), ...withheld(content, change)])]
      return { ...change, before: own ? own.before : change.before, ...(gave.length > 0 && { gave }) }
    })
  const kept = held.filter((object) => tell(content, object) && !set.some(isAt(object)))
  return [...kept, ...set]
}
