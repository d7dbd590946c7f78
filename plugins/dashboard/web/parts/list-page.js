import { html } from '../html.js'
import { useList } from '../load.js'
import { Link } from '../router.js'
import { Actions } from './actions.js'
import { Head } from './head.js'
import { Filter, Listing } from './listing.js'

/**
 * What a page of a list is made of: where it is and what it is called, the list of the API, its columns and its filters.
 * @typedef {object} ListForm
 * @property {string} at
 * @property {string} title
 * @property {string} path
 * @property {string} items the name of the list in the answer
 * @property {string} label
 * @property {any} empty what is said where there is nothing
 * @property {readonly import('./table.js').Column<any>[] | ((reload: () => void, props: any) => readonly import('./table.js').Column<any>[])} columns
 * @property {readonly (readonly [string, string])[]} [tabs]
 * @property {readonly (readonly [string, string])[]} [trail]
 * @property {readonly import('./listing.js').FilterField[]} [filters]
 * @property {readonly [string, string]} [create] where something new is made, and what that is called
 * @property {(reload: () => void) => readonly (import('./actions.js').Act | false)[]} [actions]
 * @property {(row: any) => string} [keyOf]
 * @property {number} [everyMs]
 * @property {(props: any) => any} [above] what stands above the list
 */

/**
 * A page that lists something.
 * @param {ListForm} form
 */
export const listPage = ({
  at,
  title,
  path,
  items,
  label,
  empty,
  columns,
  tabs,
  trail,
  filters,
  create,
  actions,
  keyOf,
  everyMs,
  above,
}) =>
  function List(/** @type {any} */ props) {
    const { query } = props
    const list = useList(path, query, everyMs)
    return html`
      <${Head} title=${title} tabs=${tabs} trail=${trail} at=${at}>
        ${actions && html`<${Actions} of=${actions(list.reload)} done=${list.reload} />`}
        ${create && html`<${Link} class="button" to=${create[0]}>${create[1]}<//>`}
      <//>
      ${above?.({ ...props, list })}
      ${filters && html`<${Filter} fields=${filters} at=${at} query=${query} />`}
      <${Listing}
        of=${list}
        items=${items}
        label=${label}
        columns=${typeof columns === 'function' ? columns(list.reload, props) : columns}
        empty=${empty}
        at=${at}
        query=${query}
        keyOf=${keyOf}
      />
    `
  }
