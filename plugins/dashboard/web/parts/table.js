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
 * Facts by name.
 * @param {{ of: readonly (readonly [string, any])[] }} props
 */
export const Facts = ({ of }) => html`
  <dl class="facts">${of.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
`
