import { useEffect, useState } from 'preact/hooks'
import { html } from './html.js'
import { Problem } from './parts/notice.js'

/**
 * A page whose script is loaded when somebody goes there.
 * @template {Record<string, any>} M
 * @param {() => Promise<M>} load
 * @param {keyof M} name
 */
export function from(load, name) {
  /** @type {((props: any) => any) | undefined} */
  let page
  return function Loaded(/** @type {any} */ props) {
    const [error, setError] = useState(/** @type {Error | undefined} */ (undefined))
    const [, setReady] = useState(page !== undefined)
    useEffect(() => {
      load().then((module) => {
        page = module[name]
        setReady(true)
      }, setError)
    }, [])
    if (page) return html`<${page} ...${props} />`
    // A gateway with other pages has other addresses for their scripts.
    if (error) return html`<${Problem} error=${error} retry=${() => location.reload()} />`
    return html`<div class="waiting" aria-busy="true"></div>`
  }
}
