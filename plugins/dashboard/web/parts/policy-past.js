import { useState } from 'preact/hooks'
import { ask } from '../api.js'
import { html } from '../html.js'
import { Link } from '../router.js'
import { count } from '../text.js'

/** Tests trust policies on calls of the past. */
export function usePolicyPast() {
  const [found, setFound] = useState(/** @type {any} */ (undefined))
  const test = async (/** @type {object} */ body) =>
    setFound(await ask('POST', '/api/trust/policies/history', { body: { examples: 20, ...body } }))
  return { found, test }
}

/**
 * The calls that policies would have met.
 * @param {{ found: any }} props
 */
export const PolicyPast = ({ found }) =>
  found &&
  html`
    <section role="status">
      <h2>In past calls</h2>
      ${found.policies.map(
        (/** @type {any} */ one) => html`
          <p>${one.name} meets ${count(one.violations)} of ${count(found.checked)} calls${found.complete ? '' : ', as far as there was time to look'}.</p>
          <ul>
            ${one.trace_ids.map((/** @type {string} */ id) => html`<li key=${id}><${Link} to=${`/traces/${id}`}>${id}<//></li>`)}
          </ul>
        `,
      )}
    </section>
  `
