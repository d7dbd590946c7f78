/**
 * Whether a JSON Schema has an object in it that does not say `additionalProperties: false`, which services refuse that
 * hold their models to it.
 */
export function hasOpenObjects(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(hasOpenObjects)
  if (typeof schema !== 'object' || schema === null) return false
  const { type, properties, additionalProperties, ...rest } = schema as Record<string, unknown>
  if ((type === 'object' || properties) && additionalProperties !== false) return true
  return Object.values({ ...(properties as object | undefined), ...rest }).some(hasOpenObjects)
}
