const money = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: 2 })
const smallMoney = new Intl.NumberFormat('en', {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: 3,
})
const whole = new Intl.NumberFormat('en')
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })
const time = timeFormat({ dateStyle: 'medium', timeStyle: 'medium' })
const clock = timeFormat({ hour: '2-digit', minute: '2-digit', second: '2-digit' })

/**
 * Times as the browser's language writes them; in English where that is no language that it knows itself.
 * @param {Intl.DateTimeFormatOptions} options
 */
function timeFormat(options) {
  try {
    return new Intl.DateTimeFormat(undefined, options)
  } catch {
    return new Intl.DateTimeFormat('en', options)
  }
}

export const none = '–'

/** @param {number | null | undefined} value */
export const usd = (value) =>
  value == null ? none : value === 0 || value >= 1 ? money.format(value) : smallMoney.format(value)

/** @param {number | null | undefined} value */
export const count = (value) => (value == null ? none : whole.format(value))

/** @param {number | null | undefined} value */
export const short = (value) =>
  value == null ? none : value < 10_000 ? whole.format(value) : compact.format(value)

/** @param {number | null | undefined} value a share, from 0 to 1 */
export const share = (value) => (value == null ? none : percent.format(value))

/** @param {number | null | undefined} ms */
export function duration(ms) {
  if (ms == null) return none
  if (ms < 1) return `${Math.round(ms * 1000)} µs`
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  return `${Math.round(ms / 60_000)} min`
}

/** @param {number | null | undefined} seconds */
export function span(seconds) {
  if (seconds == null) return none
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ]
  if (days > 0) return `${days} d ${hours} h`
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${Math.floor(seconds) % 60} s`
}

/** @param {number | null | undefined} bytes */
export const size = (bytes) => (bytes == null ? none : `${(bytes / 1_048_576).toFixed(0)} MB`)

/** @param {string | null | undefined} iso */
export const when = (iso) => (iso == null ? none : time.format(new Date(iso)))

/** @param {string} iso the time of day, with the date when that is another day */
export function recently(iso) {
  const date = new Date(iso)
  return date.toDateString() === new Date().toDateString() ? clock.format(date) : time.format(date)
}

/**
 * A name of the API as a label: `max_length` as `Max length`.
 * @param {string} name
 */
export const labelOf = (name) => (name[0] ?? '').toUpperCase() + name.slice(1).replaceAll('_', ' ')
