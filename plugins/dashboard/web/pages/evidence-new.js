import { html } from '../html.js'
import { Head } from '../parts/head.js'
import { OperationForm } from '../parts/operation-form.js'
import { go } from '../router.js'

const fields = ['name', 'date_from', 'date_to', 'framework', 'include']

const dayMs = 86_400_000

/** A form for a pack of evidence, at first of the last 30 days. */
export const NewEvidence = () => html`
  <${Head} title="Collect evidence" trail=${[['/evidence', 'Evidence']]} />
  <${OperationForm}
    operation="POST /api/trust/evidence"
    fields=${fields}
    values=${{ date_from: new Date(Date.now() - 30 * dayMs).toISOString(), date_to: new Date().toISOString() }}
    submit="Collect"
    done=${(/** @type {any} */ { id }) => go(`/evidence/${id}`)}
  />
`
