/** Paths of settings that say nothing of themselves. */
export function undescribed(schema: Record<string, unknown>, at = ''): string[] {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Record<string, unknown>>)
  const nested = [schema.items, schema.additionalProperties].filter((part) => typeof part === 'object')
  return [
    ...properties.flatMap(([name, part]) => [
      ...(part.description ? [] : [`${at}${name}`]),
      ...undescribed(part, `${at}${name}.`),
    ]),
    ...nested.flatMap((part) => undescribed(part as Record<string, unknown>, `${at}*.`)),
  ]
}
