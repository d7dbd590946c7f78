import { type Forms, isGatewayError, type Registry } from '#kernel'
import { partOf, partsOf } from './sections.ts'
import { readValues } from './values.ts'

/**
 * Forms as they would be read back once they are set: with defaults, and in the usual spelling. One that could not be set stays
 * as it is.
 */
export function normalForms(registry: Registry, forms: Forms): Promise<Forms> {
  return registry.whileStill(async () => {
    const parts = partsOf(registry)
    const now = await readValues(parts, Object.keys(forms))
    const normal: Record<string, Record<string, unknown>> = {}
    for (const [name, byKey] of Object.entries(forms)) {
      const part = partOf(parts, name)
      const known: [string, unknown][] = []
      for (const [key, form] of Object.entries(byKey))
        try {
          const value = await part.given(key, form, now.get(name)!.get(key))
          if (value !== undefined) known.push([key, part.shared(value)])
        } catch (error) {
          if (!isGatewayError(error)) throw error
          known.push([key, form])
        }
      normal[name] = Object.fromEntries(known)
    }
    return normal
  })
}
