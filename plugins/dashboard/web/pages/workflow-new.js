import { html } from '../html.js'
import { Head } from '../parts/head.js'
import { OperationForm } from '../parts/operation-form.js'
import { go } from '../router.js'

/** A form for a new workflow. */
export const NewWorkflow = () => html`
  <${Head} title="New workflow" trail=${[['/workflows', 'Workflows']]} />
  <${OperationForm} operation="POST /api/forge/workflows" fields=${['slug', 'name', 'steps', 'input_schema']} submit="Add" done=${(/** @type {any} */ { slug }) => go(`/workflows/${slug}`)} />
`
