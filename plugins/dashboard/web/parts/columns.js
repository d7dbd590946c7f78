import { html } from '../html.js'
import { Link } from '../router.js'
import { count, none, when } from '../text.js'
import { Badge } from './notice.js'

/** @typedef {import('./table.js').Column<any>} Column */

/**
 * A column of a field.
 * @param {string} title
 * @param {string} field
 * @param {(value: any, row: any) => any} [shown]
 * @returns {Column}
 */
export const column = (title, field, shown = plain) => ({
  title,
  cell: (row) => shown(row[field], row),
})

/**
 * A column of numbers.
 * @param {string} title
 * @param {string} field
 * @param {(value: any, row: any) => any} [shown]
 * @returns {Column}
 */
export const number = (title, field, shown = count) => ({ ...column(title, field, shown), number: true })

/**
 * A column of times.
 * @param {string} title
 * @param {string} field
 */
export const time = (title, field) => column(title, field, when)

/**
 * A column of states.
 * @param {string} title
 * @param {string} field
 */
export const state = (title, field) => column(title, field, (value) => html`<${State} of=${value} />`)

/**
 * A column whose texts lead to the pages of the rows.
 * @param {string} title
 * @param {string} field
 * @param {(row: any) => string} to
 */
export const link = (title, field, to) =>
  column(title, field, (value, row) => html`<${Link} to=${to(row)}>${plain(value)}<//>`)

/** @param {string} [title] */
export const trace = (title = 'Trace') =>
  column(title, 'trace_id', (id) => (id ? html`<${Link} to=${`/traces/${id}`}>${id}<//>` : none))

/** @param {unknown} value */
export function plain(value) {
  if (value === null || value === undefined || value === '') return none
  if (Array.isArray(value)) return value.length === 0 ? none : value.join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** @type {Record<string, 'good' | 'bad' | 'warn' | 'calm'>} */
const tones = {}
for (const word of 'ok active success done ready completed healthy valid applied installed mitigated on A B'.split(
  ' ',
))
  tones[word] = 'good'
for (const word of 'firing failed failing error critical high block bypassed tripped invalid down open regressed fail D F'.split(
  ' ',
))
  tones[word] = 'bad'
for (const word of 'warning medium redact warn degraded pending conflict waiting waiting_human budget_exceeded stopped_budget inconclusive C'.split(
  ' ',
))
  tones[word] = 'warn'

/**
 * A state by the word that the API has for it.
 * @param {{ of: string | boolean | null | undefined }} props
 */
export function State({ of }) {
  const word = of === true ? 'on' : of === false ? 'off' : of
  return word ? html`<${Badge} tone=${tones[word] ?? 'calm'}>${word.replaceAll('_', ' ')}<//>` : none
}
