import { html } from '../html.js'

/**
 * A column: its heading, what a row shows in it, and whether that is a number.
 * @template R
 * @typedef {{ title: string, cell: (row: R) => any, number?: boolean }} Column
 */

/**
 * Rows with headings; on narrow screens it scrolls by itself.
 * @param {{ label: string, columns: readonly Column<any>[], rows: readonly any[], keyOf: (row: any) => string }} props
 */
export function Table({ label, columns, rows, keyOf }) {
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label=${label}>
      <table>
        <thead>
          <tr>${columns.map(({ title, number }) => html`<th scope="col" class=${number ? 'number' : undefined}>${title}</th>`)}</tr>
        </thead>
        <tbody>
          ${rows.map(
            (row) => html`
              <tr key=${keyOf(row)}>
                ${columns.map(({ cell, number }) => html`<td class=${number ? 'number' : undefined}>${cell(row)}</td>`)}
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  `
}

/**
 * Leads through the pages of a list, whose place is its offset.
 * @param {{ list: { total: number, limit: number, offset: number, has_more: boolean }, go: (offset: number) => void }} props
 */
export function Pager({ list: { total, limit, offset, has_more }, go }) {
  if (offset === 0 && !has_more) return null
  const last = Math.min(total, offset + limit)
  return html`
    <div class="pager">
      <button type="button" disabled=${offset === 0} onClick=${() => go(Math.max(0, offset - limit))}>Previous</button>
      <span>${offset + 1}–${last} of ${total}</span>
      <button type="button" disabled=${!has_more} onClick=${() => go(offset + limit)}>Next</button>
    </div>
  `
}

/**
 * Facts by name.
 * @param {{ of: readonly (readonly [string, any])[] }} props
 */
export const Facts = ({ of }) => html`
  <dl class="facts">${of.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
`
