import { html } from '../html.js'
import { labelOf } from '../text.js'

/**
 * A field of a form by its JSON Schema, edited as text: a choice, a line, lines, several choices, a long text, JSON, or what may be
 * a text or JSON.
 * @param {{ id: string, name: string, field: any, required?: boolean, text: string, flaw: string | undefined, change: (text: string) => void }} props
 */
export function Field({ id, name, field, required = false, text, flaw, change }) {
  const form = formOf(field)
  const hint = `${id}-hint`
  const shared = {
    id,
    required,
    'aria-describedby': hint,
    'aria-invalid': flaw !== undefined,
    onInput: (/** @type {any} */ event) => change(event.target.value),
  }
  const title = html`${field.title ?? labelOf(name)} <code>${name}</code>${required && ' (required)'}`
  return html`
    <div class="field">
      ${
        form === 'choices'
          ? html`<${Choices} id=${id} hint=${hint} title=${title} field=${field} text=${text} change=${change} />`
          : html`
              <label for=${id}>${title}</label>
              ${form === 'choice' && html`<${Choice} shared=${shared} field=${field} text=${text} />`}
              ${form === 'line' && html`<input ...${shared} value=${text} inputmode=${isNumber(field) ? 'decimal' : undefined} />`}
              ${isLong(form) && html`<textarea ...${shared} class=${form === 'text' ? 'prose' : undefined} rows=${Math.min(12, text.split('\n').length + 1)} spellcheck=${false} value=${text}></textarea>`}
            `
      }
      <p id=${hint} class="hint">${field.description} ${fallbackOf(field, form, required)} ${ways[form]}</p>
      ${flaw !== undefined && html`<p class="flaw" role="alert">${flaw}</p>`}
    </div>
  `
}

/** @type {Record<string, string>} */
const ways = { json: 'Written as JSON.', mixed: 'A text, or written as JSON.', lines: 'One on each line.' }

/** @param {string} form */
const isLong = (form) => ['text', 'lines', 'json', 'mixed'].includes(form)

/**
 * @param {any} field
 * @param {string} form
 * @param {boolean} required
 */
function fallbackOf(field, form, required) {
  if (form === 'choice' || required) return ''
  return field.default === undefined || field.default === ''
    ? 'Empty: not set.'
    : `Empty: ${JSON.stringify(field.default)}.`
}

/** @param {{ shared: any, field: any, text: string }} props */
const Choice = ({ shared, field, text }) => html`
  <select ...${shared} value=${text}>
    <option value="">${shared.required ? 'Choose one' : 'Default'}</option>
    ${choicesOf(field).map((choice) => html`<option value=${String(choice)}>${String(choice)}</option>`)}
  </select>
`

/** @param {{ id: string, hint: string, title: any, field: any, text: string, change: (text: string) => void }} props */
function Choices({ id, hint, title, field, text, change }) {
  const chosen = linesOf(text)
  /** @param {string} one */
  const toggle = (one) =>
    change((chosen.includes(one) ? chosen.filter((other) => other !== one) : [...chosen, one]).join('\n'))
  return html`
    <fieldset id=${id} aria-describedby=${hint}>
      <legend>${title}</legend>
      ${plain(field).items.enum.map(
        (/** @type {string} */ one) => html`
          <label class="check"><input type="checkbox" checked=${chosen.includes(one)} onChange=${() => toggle(one)} /> ${one}</label>
        `,
      )}
    </fieldset>
  `
}

/**
 * What a field takes besides null.
 * @param {any} field
 */
function plain(field) {
  const kinds = (field.anyOf ?? field.oneOf ?? []).filter((/** @type {any} */ one) => one.type !== 'null')
  if (kinds.length === 1) return { ...field, ...kinds[0] }
  const isScalar = kinds.length > 1 && kinds.every((/** @type {any} */ { type }) => scalars.includes(type))
  if (isScalar) return { ...field, type: 'scalar' }
  const mayBeText = kinds.some((/** @type {any} */ { type }) => type === 'string')
  return mayBeText ? { ...field, type: 'mixed' } : field
}

const scalars = ['number', 'integer', 'string']

/** @param {any} field */
const isNumber = (field) => ['number', 'integer'].includes(plain(field).type)

/**
 * @param {any} field
 * @returns {readonly unknown[]}
 */
function choicesOf(field) {
  const { type, enum: choices = [] } = plain(field)
  return type === 'boolean' ? [true, false] : choices
}

/**
 * @param {any} field
 * @returns {'choice' | 'choices' | 'line' | 'lines' | 'text' | 'mixed' | 'json'}
 */
function formOf(field) {
  const { type, items, maxLength } = plain(field)
  if (choicesOf(field).length > 0) return 'choice'
  if (isNumber(field) || type === 'scalar') return 'line'
  if (type === 'mixed') return type
  if (type === 'string') return maxLength > 2000 ? 'text' : 'line'
  if (type === 'array' && items?.enum) return 'choices'
  return type === 'array' && items?.type === 'string' ? 'lines' : 'json'
}

/** @param {string} text */
const linesOf = (text) =>
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
