import { html } from '../html.js'
import { Head } from '../parts/head.js'
import { OperationForm } from '../parts/operation-form.js'
import { go } from '../router.js'

const fields = ['name', 'models', 'prompts', 'runs', 'max_cost_usd']

/** A form for a new benchmark. */
export const NewBenchmark = () => html`
  <${Head} title="New benchmark" trail=${[['/benchmarks', 'Benchmarks']]} />
  <${OperationForm} operation="POST /api/studio/benchmarks" fields=${fields} submit="Add" done=${(/** @type {any} */ { id }) => go(`/benchmarks/${id}`)} />
`
