/**
 * A value in the JSON Canonicalization Scheme (RFC 8785): one text for equal values, whoever writes it, for hashes and signatures.
 * Fields that are undefined are left out. Throws a TypeError for what has no such form: numbers that are not finite, texts with
 * half a character, and what is no JSON.
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return canonicalText(value)
    case 'number':
      if (Number.isFinite(value)) return JSON.stringify(value)
      break
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      if (Array.isArray(value)) return `[${Array.from(value, canonicalJson).join()}]`
      if (isPlain(value)) return canonicalObject(value)
  }
  throw new TypeError(`${String(value)} has no canonical JSON.`)
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** The default order of `sort` is that of UTF-16 code units, which the RFC asks for. */
function canonicalObject(value: object): string {
  let text = ''
  for (const name of Object.keys(value).sort()) {
    const field = (value as Readonly<Record<string, unknown>>)[name]
    if (field !== undefined) text += `${text && ','}${canonicalText(name)}:${canonicalJson(field)}`
  }
  return `{${text}}`
}

function canonicalText(text: string): string {
  if (text.isWellFormed()) return JSON.stringify(text)
  throw new TypeError('A text with half a character has no canonical JSON.')
}
