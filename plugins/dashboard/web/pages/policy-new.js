import { html } from '../html.js'
import { Head } from '../parts/head.js'
import { OperationForm } from '../parts/operation-form.js'
import { PolicyPast, usePolicyPast } from '../parts/policy-past.js'
import { go } from '../router.js'

export const fields = /** @type {const} */ (['name', 'action', 'rules', 'scope', 'mode'])

/** A form for a new policy, which can be tested on past calls. */
export function NewPolicy() {
  const past = usePolicyPast()
  return html`
    <${Head} title="New policy" trail=${[['/policies', 'Policies']]} />
    <${OperationForm}
      operation="POST /api/trust/policies"
      fields=${fields}
      without=${['type', 'config']}
      submit="Add"
      also=${{ title: 'Test on past calls', act: (/** @type {any} */ policy) => past.test({ policies: [policy] }) }}
      done=${(/** @type {any} */ { id }) => go(`/policies/${id}`)}
    />
    <${PolicyPast} found=${past.found} />
  `
}
