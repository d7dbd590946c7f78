import { badRequest, type ConfigChange, type Forms, isGatewayError, type Section } from '#kernel'
import { type Parts, partOf } from './sections.ts'
import type { Values } from './values.ts'

/** The keys that a change sets, and what is set once it is made. */
export interface Plan {
  readonly changes: readonly ConfigChange[]
  readonly after: Values
}

/**
 * What sets keys to these forms; null clears one. Every form is checked, and nothing is changed. Throws a bad request that
 * begins with the key.
 */
export async function planOf(parts: Parts, now: Values, wanted: Forms): Promise<Plan> {
  const changes: ConfigChange[] = []
  const after = new Map([...now].map(([name, values]) => [name, new Map(values)]))
  for (const [name, forms] of Object.entries(wanted)) {
    const part = partOf(parts, name)
    const values = after.get(name)!
    for (const [key, form] of Object.entries(forms)) {
      const before = values.get(key)
      const next = await at(`${name}.${key}`, async () => {
        const value = form === null ? undefined : await part.given(key, form, before)
        if (value !== before) (part as Partial<Section>).check?.(key, value)
        return value
      })
      if (next === before) continue
      if (next === undefined) values.delete(key)
      else values.set(key, next)
      changes.push({ section: name, key, before: before ?? null, after: next ?? null })
    }
    if (values.size > (part.most ?? Infinity))
      throw badRequest(`${name}: there can be ${part.most}, and this makes ${values.size}.`, { param: name })
  }
  return { changes, after }
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
