import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../api.js'
import { html } from '../html.js'
import { Field } from './field.js'
import { settingFrom, textOf } from './field-value.js'
import { Problem } from './notice.js'

/**
 * A form that is made from a JSON Schema. `save` gets what was changed, null for a field that was emptied, and resolves with
 * whether that was taken. A refusal stands beside the field that it names. Fields that are not among `first` can be unfolded.
 * `also` is something else to do with what the form says, such as trying it.
 * @param {{ schema: any, values?: Record<string, unknown>, busy: boolean, error?: Error | undefined, id?: string, submit?: string,
 *   first?: readonly string[] | undefined, mayBeUnchanged?: boolean,
 *   also?: { title: string, act: (changed: Record<string, unknown>) => Promise<unknown> } | undefined, save: (changed: Record<string, unknown>) => Promise<boolean> }} props
 */
export function SchemaForm({
  schema,
  values = {},
  busy,
  error,
  id = 'setting',
  submit = 'Save',
  first,
  mayBeUnchanged = false,
  also,
  save,
}) {
  const [edits, setEdits] = useState(/** @type {Record<string, string>} */ ({}))
  const [flaws, setFlaws] = useState(/** @type {Record<string, string>} */ ({}))
  const properties = schema?.properties ?? {}
  const refused = refusedOf(error, properties)
  const wrong = { ...refused, ...flaws }
  const [firstWrong] = Object.keys(wrong)
  useEffect(() => {
    if (firstWrong) document.getElementById(`${id}-${firstWrong}`)?.focus()
  }, [firstWrong, error])

  const names = Object.keys(properties)
  const shown = (first ?? names).filter((name) => name in properties)
  const folded = names.filter((name) => !shown.includes(name))
  if (names.length === 0 && !mayBeUnchanged) return html`<p class="empty">It has no settings.</p>`

  /** What was changed; undefined where a field says no such value. */
  const changes = () => {
    const { read, unread } = readFrom(edits, properties)
    setFlaws(unread)
    return Object.keys(unread).length === 0 ? read : undefined
  }
  /** @param {Event} event */
  const send = async (event) => {
    event.preventDefault()
    const changed = changes()
    if (changed && (await save(changed))) setEdits({})
  }
  const actAlso = () => {
    const changed = changes()
    if (changed) void also?.act(changed)
  }
  const fieldOf = (/** @type {string} */ name) => html`
    <${Field}
      key=${name}
      id=${`${id}-${name}`}
      name=${name}
      field=${properties[name]}
      required=${schema.required?.includes(name) ?? false}
      text=${edits[name] ?? textOf(properties[name], values[name])}
      flaw=${wrong[name]}
      change=${(/** @type {string} */ text) => setEdits((all) => ({ ...all, [name]: text }))}
    />
  `
  const isRest = folded.some((name) => name in wrong || edits[name] !== undefined)
  return html`
    <form class="settings" onSubmit=${send}>
      <${Problem} error=${error} />
      ${shown.map(fieldOf)}
      ${folded.length > 0 && html`<details open=${isRest}><summary>More settings</summary>${folded.map(fieldOf)}</details>`}
      <div class="row">
        <button type="submit" disabled=${busy || (!mayBeUnchanged && Object.keys(edits).length === 0)}>${submit}</button>
        ${also && html`<button type="button" class="quiet" disabled=${busy} onClick=${actAlso}>${also.title}</button>`}
      </div>
    </form>
  `
}

/**
 * The fields that a refusal names, with what it says of each.
 * @param {Error | undefined} error
 * @param {Record<string, unknown>} properties
 * @returns {Record<string, string>}
 */
function refusedOf(error, properties) {
  if (!(error instanceof ApiError)) return {}
  const all = [{ path: error.param ?? '', message: error.message }, ...error.problems]
  return Object.fromEntries(
    all.flatMap(({ path, message }) => {
      const name = path.split(/[.[\]]/).find((part) => part in properties)
      return name === undefined ? [] : [[name, message]]
    }),
  )
}

/**
 * @param {Record<string, string>} edits
 * @param {Record<string, unknown>} properties
 */
function readFrom(edits, properties) {
  /** @type {Record<string, unknown>} */
  const read = {}
  /** @type {Record<string, string>} */
  const unread = {}
  for (const [name, text] of Object.entries(edits)) {
    try {
      read[name] = settingFrom(properties[name], text)
    } catch (error) {
      unread[name] = /** @type {Error} */ (error).message
    }
  }
  return { read, unread }
}
