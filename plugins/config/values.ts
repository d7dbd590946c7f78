import { hash } from 'node:crypto'
import type { Configured, Forms } from '#kernel'
import { repairedJson } from '#kit'
import { type Parts, partOf } from './sections.ts'

/** What is set, by sections and keys. */
export type Values = ReadonlyMap<string, ReadonlyMap<string, unknown>>

export async function readValues(parts: Parts, names: Iterable<string> = parts.keys()): Promise<Values> {
  const values = new Map<string, Map<string, unknown>>()
  for (const name of names) {
    const section = new Map<string, unknown>()
    for await (const [key, value] of partOf(parts, name).all()) section.set(key, value)
    values.set(name, section)
  }
  return values
}

/** Values in the form of documents. */
export function configuredOf(parts: Parts, values: Values, generation: number): Configured {
  const sections: Record<string, Record<string, unknown>> = {}
  const secrets: string[] = []
  for (const [name, byKey] of values) {
    const part = partOf(parts, name)
    const forms: Record<string, unknown> = Object.create(null)
    for (const [key, value] of byKey) {
      forms[key] = part.shared(value)
      for (const field of part.withheld?.(value) ?? []) secrets.push(`${name}.${key}.${field}`)
    }
    sections[name] = forms
  }
  return { generation, hash: hashOf(sections), sections, secrets: secrets.sort() }
}

/** SHA-256 of the sections that have a value; half a character in a text counts as U+FFFD. */
export function hashOf(sections: Forms): string {
  const held = Object.entries(sections).filter(([, forms]) => Object.keys(forms).length > 0)
  return hash('sha256', repairedJson(Object.fromEntries(held)))
}
