import { html } from '../html.js'
import { Empty } from './notice.js'

/** Lines of two values that are compared one by one; longer ones are shown whole, as comparing takes their product. */
const mostLines = 400

/**
 * What was changed, with the lines that went and the lines that came.
 * @param {{ of: readonly { title: string, before: unknown, after: unknown }[] }} props
 */
export const Changes = ({ of }) =>
  of.length === 0
    ? html`<${Empty}>Nothing differs.<//>`
    : html`
        <ul class="changes">
          ${of.map(
            ({ title, before, after }) => html`
              <li key=${title}>
                <p><code>${title}</code></p>
                <pre tabindex="0" aria-label=${`Change of ${title}`}>${linesOf(before, after).map(
                  ({ kind, text }) =>
                    kind === 'removed'
                      ? html`<del class="removed">${`- ${text}\n`}</del>`
                      : kind === 'added'
                        ? html`<ins class="added">${`+ ${text}\n`}</ins>`
                        : `  ${text}\n`,
                )}</pre>
              </li>
            `,
          )}
        </ul>
      `

/**
 * @param {unknown} before
 * @param {unknown} after
 */
const linesOf = (before, after) => difference(written(before), written(after))

/** @param {unknown} value */
const written = (value) =>
  value === null || value === undefined ? [] : JSON.stringify(value, null, 2).split('\n')

/**
 * The longest lines that both have in the same order stay; the others went or came.
 * @param {readonly string[]} a
 * @param {readonly string[]} b
 * @returns {{ kind: 'same' | 'removed' | 'added', text: string }[]}
 */
export function difference(a, b) {
  const removed = (/** @type {string} */ text) => /** @type {const} */ ({ kind: 'removed', text })
  const added = (/** @type {string} */ text) => /** @type {const} */ ({ kind: 'added', text })
  if (Math.max(a.length, b.length) > mostLines) return [...a.map(removed), ...b.map(added)]
  const common = a.map(() => new Uint16Array(b.length + 1))
  common.push(new Uint16Array(b.length + 1))
  const at = (/** @type {number} */ i, /** @type {number} */ j) => common[i]?.[j] ?? 0
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      /** @type {Uint16Array} */ (common[i])[j] =
        a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  /** @type {{ kind: 'same' | 'removed' | 'added', text: string }[]} */
  const lines = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [left = '', right = ''] = [a[i], b[j]]
    if (i < a.length && j < b.length && left === right) {
      lines.push({ kind: 'same', text: left })
      i += 1
      j += 1
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push(removed(left))
      i += 1
    } else {
      lines.push(added(right))
      j += 1
    }
  }
  return lines
}
