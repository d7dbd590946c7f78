import { useState } from 'preact/hooks'
import { html } from '../html.js'
import { go } from '../router.js'
import { count } from '../text.js'
import { Empty, Loads } from './notice.js'
import { Table } from './table.js'

/**
 * A list of the API, page by page. Its place stands in the address, so that Back leads to the page before, and however long the
 * list is, the browser holds one page of it.
 * @param {{ of: import('../load.js').Loaded, items: string, label: string, columns: readonly import('./table.js').Column<any>[],
 *   empty: any, at: string, query?: Record<string, string>, keyOf?: (row: any) => string }} props
 */
export function Listing({ of, items, label, columns, empty, at, query = {}, keyOf = ({ id }) => id }) {
  const { cursor, ...rest } = query
  return html`
    <${Loads} of=${of}>
      ${(/** @type {any} */ data) =>
        data[items].length === 0
          ? html`<${Empty}>${empty}<//>`
          : html`
              <${Table} label=${label} columns=${columns} rows=${data[items]} keyOf=${keyOf} />
              ${
                (cursor || data.next_cursor) &&
                html`
                  <div class="pager">
                    <button type="button" disabled=${!cursor} onClick=${() => go(at, { query: rest })}>First page</button>
                    <span>${count(data.total)} in all</span>
                    <button type="button" disabled=${!data.next_cursor} onClick=${() => go(at, { query: { ...rest, cursor: data.next_cursor } })}>Next page</button>
                  </div>
                `
              }
            `}
    <//>
  `
}

/**
 * A filter of a list, as the API names it.
 * @typedef {{ name: string, label: string, choices?: readonly string[] }} FilterField
 */

/**
 * The filter of a list, which the address has, so that a view can be sent on.
 * @param {{ fields: readonly FilterField[], at: string, query: Record<string, string> }} props
 */
export function Filter({ fields, at, query }) {
  const [edits, setEdits] = useState(/** @type {Record<string, string>} */ ({}))
  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault()
    const { cursor: _, ...rest } = query
    go(at, { query: { ...rest, ...edits } })
  }
  const clear = () => {
    setEdits({})
    go(at)
  }
  return html`
    <form class="filter" role="search" onSubmit=${submit}>
      ${fields.map(({ name, label, choices }) => {
        const shared = {
          name,
          value: edits[name] ?? query[name] ?? '',
          onInput: (/** @type {any} */ event) => setEdits((all) => ({ ...all, [name]: event.target.value })),
        }
        return html`
          <label>
            ${label}
            ${
              choices
                ? html`<select ...${shared}><option value="">Any</option>${choices.map((one) => html`<option>${one}</option>`)}</select>`
                : html`<input ...${shared} />`
            }
          </label>
        `
      })}
      <button type="submit">Filter</button>
      ${
        Object.keys(query).length > 0 &&
        html`<button type="button" class="quiet" onClick=${clear}>Clear</button>`
      }
    </form>
  `
}
