import { html } from '../html.js'
import { Head } from '../parts/head.js'
import { OperationForm } from '../parts/operation-form.js'
import { go } from '../router.js'

const fields = ['name', 'variants', 'dataset', 'evaluators', 'runs_per_input', 'max_cost_usd']

/** A form for a new experiment, which asks nothing until it is run. */
export const NewExperiment = () => html`
  <${Head} title="New experiment" trail=${[['/experiments', 'Experiments']]} />
  <${OperationForm} operation="POST /api/studio/experiments" fields=${fields} submit="Add" done=${(/** @type {any} */ { id }) => go(`/experiments/${id}`)} />
`
