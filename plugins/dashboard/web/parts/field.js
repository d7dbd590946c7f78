import { html } from '../html.js'
import { labelOf } from '../text.js'
import { choicesOf, formOf, isNumber, linesOf, plain } from './field-value.js'

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
