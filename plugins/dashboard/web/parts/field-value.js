/**
 * What a field takes besides null.
 * @param {any} field
 */
export function plain(field) {
  const kinds = (field.anyOf ?? field.oneOf ?? []).filter((/** @type {any} */ one) => one.type !== 'null')
  if (kinds.length === 1) return { ...field, ...kinds[0] }
  const isScalar = kinds.length > 1 && kinds.every((/** @type {any} */ { type }) => scalars.includes(type))
  if (isScalar) return { ...field, type: 'scalar' }
  const mayBeText = kinds.some((/** @type {any} */ { type }) => type === 'string')
  return mayBeText ? { ...field, type: 'mixed' } : field
}

const scalars = ['number', 'integer', 'string']

/** @param {any} field */
export const isNumber = (field) => ['number', 'integer'].includes(plain(field).type)

/**
 * @param {any} field
 * @returns {readonly unknown[]}
 */
export function choicesOf(field) {
  const { type, enum: choices = [] } = plain(field)
  return type === 'boolean' ? [true, false] : choices
}

/**
 * @param {any} field
 * @returns {'choice' | 'choices' | 'line' | 'lines' | 'text' | 'mixed' | 'json'}
 */
export function formOf(field) {
  const { type, items, maxLength } = plain(field)
  if (choicesOf(field).length > 0) return 'choice'
  if (isNumber(field) || type === 'scalar') return 'line'
  if (type === 'mixed') return type
  if (type === 'string') return maxLength > 2000 ? 'text' : 'line'
  if (type === 'array' && items?.enum) return 'choices'
  return type === 'array' && items?.type === 'string' ? 'lines' : 'json'
}

/** @param {string} text */
export const linesOf = (text) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/**
 * @param {any} field
 * @param {unknown} value
 */
export function textOf(field, value) {
  if (value === undefined || value === null) return ''
  const form = formOf(field)
  if (form === 'json' || (form === 'mixed' && typeof value !== 'string'))
    return JSON.stringify(value, null, 2)
  return Array.isArray(value) ? value.join('\n') : String(value)
}

/**
 * What a text stands for; null where it is empty. Throws for what cannot be such a value; the gateway checks the rest.
 * @param {any} field
 * @param {string} text
 */
export function settingFrom(field, text) {
  if (text.trim() === '') return null
  const form = formOf(field)
  if (form === 'choice') return choicesOf(field).find((choice) => String(choice) === text)
  if (form === 'choices' || form === 'lines') return linesOf(text)
  if (form === 'json') return JSON.parse(text)
  if (form === 'mixed') return /^\s*[[{]/.test(text) ? JSON.parse(text) : text
  const number = Number(text)
  if (plain(field).type === 'scalar') return Number.isNaN(number) ? text : number
  if (!isNumber(field)) return text
  if (Number.isNaN(number)) throw new Error('This must be a number.')
  return number
}
