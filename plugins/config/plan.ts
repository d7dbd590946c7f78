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
import type { Values } from './values.ts'

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
  const changing = new Set(changes.map(({ section, key }) => `${section}.${key}`))
  for (const [section, held] of values)
    for (const [key, value] of held) {
      const place = `${section}.${key}`
      if (changing.has(place) || misfitOf(parts, section, value, now)) continue
      const misfit = misfitOf(parts, section, value, after)
      if (misfit)
        throw conflict(`${place} needs what would go: ${misfit.message}`, { param: place, cause: misfit })
    }
}

function misfitOf(
  parts: Parts,
  section: string,
  value: unknown,
  { sections }: Configured,
): GatewayError | undefined {
  try {
    partOf(parts, section).fits?.(value, sections)
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
