import {
  badRequest,
  type ConfigChange,
  type Configured,
  conflict,
  type FormChange,
  type Forms,
  type GatewayError,
  isGatewayError,
  type Section,
} from '#kernel'
import { type Parts, partOf } from './sections.ts'
import { configuredOf, readValues, type Values } from './values.ts'

/** A key that is to change: as the history has it, and in the form of documents. */
export interface Planned {
  readonly change: ConfigChange
  readonly form: FormChange
}

/**
 * What sets keys to these forms; null clears one. Every form is checked, and nothing is changed. Throws a bad request that
 * begins with the key.
 */
export async function planOf(parts: Parts, now: Values, wanted: Forms): Promise<Planned[]> {
  const planned: Planned[] = []
  for (const [section, forms] of Object.entries(wanted)) {
    const part = partOf(parts, section)
    const values = now.get(section)!
    for (const [key, form] of Object.entries(forms)) {
      const before = values.get(key)
      const after = await at(`${section}.${key}`, async () => {
        const value = form === null ? undefined : await part.given(key, form, before)
        if (value !== before) (part as Partial<Section>).check?.(key, value)
        return value
      })
      if (after === before) continue
      const formOf = (value: unknown): unknown => (value === undefined ? null : part.shared(value))
      planned.push({
        change: { section, key, before: before ?? null, after: after ?? null },
        form: { section, key, before: formOf(before), after: formOf(after) },
      })
    }
  }
  return planned
}

/** The values once changes are made. Throws a bad request for more of a section than there can be. */
export function valuesAfter(parts: Parts, now: Values, changes: readonly ConfigChange[]): Values {
  const values = new Map([...now].map(([name, held]) => [name, new Map(held)]))
  for (const { section, key, after } of changes) {
    if (after === null) values.get(section)!.delete(key)
    else values.get(section)!.set(key, after)
  }
  for (const section of new Set(changes.map((change) => change.section))) {
    const { most = Infinity } = partOf(parts, section)
    const { size } = values.get(section)!
    if (size > most && size > now.get(section)!.size)
      throw badRequest(`${section}: there can be ${most}, and this makes ${size}.`, { param: section })
  }
  return values
}

/**
 * Throws a bad request that begins with the key for a value that cannot be beside what is set then: of those that change, and a
 * conflict for one that stays and could be beside what is set now, as a route to a provider that goes.
 */
export async function demandFit(
  parts: Parts,
  changes: readonly ConfigChange[],
  { values, now, after }: { values: Values; now: Configured; after: Configured },
): Promise<void> {
  for (const { section, key, after: value } of changes)
    if (value !== null)
      await at(`${section}.${key}`, async () => partOf(parts, section).fits?.(value, after.sections))
  await demandFitUnset(parts, now.sections, after.sections)
  const changing = new Set(changes.map(({ section, key }) => `${section}.${key}`))
  for (const [section, held] of values)
    for (const [key, value] of held) {
      const place = `${section}.${key}`
      const part = partOf(parts, section)
      if (changing.has(place) || misfitOf(() => part.fits?.(value, now.sections))) continue
      demandKept(place, () => part.fits?.(value, after.sections))
    }
}

/**
 * The same for changes of the history, whose values held once and may have nothing to stand on now: throws a conflict for each, as no
 * value was sent. What documents do not have is left out.
 */
export async function demandPastFit(
  parts: Parts,
  past: readonly ConfigChange[],
  generation: number,
): Promise<void> {
  const changes = past.filter(({ section }) => parts.has(section))
  if (changes.length === 0) return
  const values = await readValues(parts)
  const now = configuredOf(parts, values, generation)
  const after = configuredOf(parts, valuesAfter(parts, values, changes), generation)
  try {
    await demandFit(parts, changes, { values, now, after })
  } catch (error) {
    if (!isGatewayError(error) || error.status >= 500) throw error
    throw conflict(error.message, { param: error.param, cause: error })
  }
}

/** The same for what holds in sections in which nothing is set then. */
async function demandFitUnset(parts: Parts, now: Forms, after: Forms): Promise<void> {
  const isUnset = (forms: Forms, section: string): boolean => Object.keys(forms[section] ?? {}).length === 0
  for (const [section, part] of parts) {
    if (!isUnset(after, section)) continue
    if (!isUnset(now, section)) await at(section, async () => part.fitsUnset?.(after))
    else if (!misfitOf(() => part.fitsUnset?.(now))) demandKept(section, () => part.fitsUnset?.(after))
  }
}

/** Throws a conflict for what stays and fits no more. */
function demandKept(place: string, fit: () => void): void {
  const misfit = misfitOf(fit)
  if (misfit)
    throw conflict(`${place} needs what would go: ${misfit.message}`, { param: place, cause: misfit })
}

function misfitOf(fit: () => void): GatewayError | undefined {
  try {
    fit()
    return undefined
  } catch (error) {
    if (isGatewayError(error)) return error
    throw error
  }
}

/** Says in a refusal which key it is about. */
async function at<T>(place: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isGatewayError(error) || error.status >= 500) throw error
    const { code, message, status, param } = error
    throw badRequest(`${place}: ${message.replace(/^body /, '')}`, {
      status: code === 'not_found' ? 400 : status,
      param: param ? `${place}.${param}` : place,
      cause: error,
    })
  }
}
