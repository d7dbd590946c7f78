import { useState } from 'preact/hooks'
import { html } from '../html.js'

/**
 * A form that is made from the JSON Schema of settings. Simple settings have fields; others are edited as JSON. `save` gets what
 * was changed, null for a setting that returns to its default, and resolves with whether that was taken.
 * @param {{ schema: any, values: Record<string, unknown>, busy: boolean, save: (changed: Record<string, unknown>) => Promise<boolean> }} props
 */
export function SchemaForm({ schema, values, busy, save }) {
  const [edits, setEdits] = useState(/** @type {Record<string, string>} */ ({}))
  const [flaws, setFlaws] = useState(/** @type {Record<string, string>} */ ({}))
  const fields = Object.entries(schema?.properties ?? {})
  if (fields.length === 0) return html`<p class="empty">It has no settings.</p>`

  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault()
    /** @type {Record<string, unknown>} */
    const changed = {}
    /** @type {Record<string, string>} */
    const wrong = {}
    for (const [name, text] of Object.entries(edits)) {
      try {
        changed[name] = settingFrom(schema.properties[name], text)
      } catch (error) {
        wrong[name] = /** @type {Error} */ (error).message
      }
    }
    setFlaws(wrong)
    if (Object.keys(wrong).length === 0 && (await save(changed))) setEdits({})
  }

  return html`
    <form class="settings" onSubmit=${submit}>
      ${fields.map(
        ([name, field]) => html`
          <${Field}
            key=${name}
            name=${name}
            field=${field}
            text=${edits[name] ?? textOf(/** @type {any} */ (field), values[name])}
            flaw=${flaws[name]}
            change=${(/** @type {string} */ text) => setEdits((all) => ({ ...all, [name]: text }))}
          />
        `,
      )}
      <button type="submit" disabled=${busy || Object.keys(edits).length === 0}>Save</button>
    </form>
  `
}

/**
 * @param {{ name: string, field: any, text: string, flaw: string | undefined, change: (text: string) => void }} props
 */
function Field({ name, field, text, flaw, change }) {
  const id = `setting-${name}`
  const hint = `${id}-hint`
  const shared = {
    id,
    'aria-describedby': hint,
    'aria-invalid': flaw !== undefined,
    onInput: (/** @type {any} */ event) => change(event.target.value),
  }
  const fallback =
    field.default === undefined ? 'Empty: not set.' : `Empty: ${JSON.stringify(field.default)}.`
  const form = formOf(field)
  return html`
    <div class="field">
      <label for=${id}>${field.title ?? name} <code>${name}</code></label>
      ${
        form === 'choice'
          ? html`<select ...${shared} value=${text}>
            <option value="">Default</option>
            ${choicesOf(field).map((/** @type {unknown} */ choice) => html`<option value=${String(choice)}>${String(choice)}</option>`)}
          </select>`
          : form === 'line'
            ? html`<input ...${shared} value=${text} inputmode=${isNumber(field) ? 'decimal' : undefined} />`
            : html`<textarea ...${shared} rows=${Math.min(12, text.split('\n').length + 1)} spellcheck=${false} value=${text}></textarea>`
      }
      <p id=${hint} class="hint">${field.description} ${form !== 'choice' && fallback}${form === 'json' && ' Written as JSON.'}</p>
      ${flaw !== undefined && html`<p class="flaw" role="alert">${flaw}</p>`}
    </div>
  `
}

/** @param {any} field */
const isNumber = (field) => field.type === 'number' || field.type === 'integer'

/** @param {any} field */
const choicesOf = (field) => (field.type === 'boolean' ? [true, false] : (field.enum ?? []))

/**
 * @param {any} field
 * @returns {'choice' | 'line' | 'json'}
 */
function formOf(field) {
  if (choicesOf(field).length > 0) return 'choice'
  return isNumber(field) || field.type === 'string' ? 'line' : 'json'
}

/**
 * @param {any} field
 * @param {unknown} value
 */
function textOf(field, value) {
  if (value === undefined || value === null) return ''
  return formOf(field) === 'json' ? JSON.stringify(value, null, 2) : String(value)
}

/**
 * Throws for what cannot be such a value; the gateway checks the rest.
 * @param {any} field
 * @param {string} text
 */
function settingFrom(field, text) {
  if (text.trim() === '') return null
  if (field.type === 'string') return text
  if (choicesOf(field).length > 0)
    return choicesOf(field).find((/** @type {unknown} */ choice) => String(choice) === text)
  if (!isNumber(field)) return JSON.parse(text)
  const number = Number(text)
  if (Number.isNaN(number)) throw new Error('This must be a number.')
  return number
}
