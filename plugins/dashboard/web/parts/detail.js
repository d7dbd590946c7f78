import { ask } from '../api.js'
import { html } from '../html.js'
import { useLoad } from '../load.js'
import { go } from '../router.js'
import { Actions } from './actions.js'
import { Fold } from './fold.js'
import { Head } from './head.js'
import { Json } from './json.js'
import { Loads } from './notice.js'
import { OperationForm } from './operation-form.js'
import { Facts } from './table.js'

/**
 * What a page of one thing is made of.
 * @typedef {object} DetailForm
 * @property {string} path of the API
 * @property {readonly [string, string]} up the list that it is of
 * @property {(data: any) => any} title
 * @property {(data: any) => readonly (readonly [string, any])[]} facts
 * @property {(data: any, reload: () => void) => readonly (import('./actions.js').Act | false | null)[]} [actions]
 * @property {{ operation: string, params: Record<string, string>, fields?: readonly string[], without?: readonly string[], query?: Record<string, unknown> }} [change]
 * @property {string} [remove] what is asked before it is deleted
 * @property {string} [removePath]
 * @property {number} [everyMs]
 * @property {boolean} [json] whether the answer can be seen as it is
 * @property {(data: any, reload: () => void) => any} [children]
 */

/**
 * A page of one thing: its facts, what can be done with it, what belongs to it, and a form that changes it.
 * @param {DetailForm} props
 */
export function Detail({
  path,
  up,
  title,
  facts,
  actions,
  change,
  remove,
  removePath = path,
  everyMs,
  json,
  children,
}) {
  const one = useLoad(path, everyMs === undefined ? {} : { everyMs })
  return html`
    ${one.data === undefined && html`<${Head} title=${up[1]} trail=${[up]} />`}
    <${Loads} of=${one}>
      ${(/** @type {any} */ data) => html`
        <${Head} title=${title(data)} trail=${[up]}>
          ${actions && html`<${Actions} of=${actions(data, one.reload)} done=${one.reload} />`}
        <//>
        ${data.description && html`<p>${data.description}</p>`}
        <${Facts} of=${facts(data)} />
        ${children?.(data, one.reload)}
        ${change && html`<${Fold} title="Change">${() => html`<${OperationForm} ...${change} values=${data} done=${one.reload} />`}<//>`}
        ${json && html`<${Json} key=${JSON.stringify(data)} title="As JSON" value=${data} />`}
        ${remove && html`<${Actions} label="Delete" done=${() => go(up[0])} of=${[{ title: 'Delete', sure: remove, run: () => ask('DELETE', removePath) }]} />`}
      `}
    <//>
  `
}
