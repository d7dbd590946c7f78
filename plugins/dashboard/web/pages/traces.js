import { html } from '../html.js'
import { useList } from '../load.js'
import { Filter, Listing } from '../parts/listing.js'
import { Badge } from '../parts/notice.js'
import { Link } from '../router.js'
import { count, duration, recently, usd } from '../text.js'

/** Fields of the filter, as the API names them. */
const filters = [
  { name: 'q', label: 'Text in bodies' },
  { name: 'model', label: 'Model' },
  { name: 'provider', label: 'Provider' },
  { name: 'project', label: 'Project' },
  { name: 'user_id', label: 'User' },
  { name: 'status', label: 'Status', choices: ['ok', 'error', 'blocked', 'cancelled'] },
  { name: 'min_latency', label: 'At least ms' },
]

const columns = [
  {
    title: 'Time',
    cell: (/** @type {any} */ row) => html`<${Link} to=${`/traces/${row.id}`}>${recently(row.timestamp)}<//>`,
  },
  { title: 'Model', cell: modelOf },
  { title: 'Provider', cell: (/** @type {any} */ row) => row.provider },
  { title: 'Status', cell: (/** @type {any} */ row) => html`<${StatusOf} trace=${row} />` },
  { title: 'Latency', number: true, cell: (/** @type {any} */ row) => duration(row.latency_ms) },
  {
    title: 'Tokens',
    number: true,
    cell: (/** @type {any} */ row) => `${count(row.tokens_in)} / ${count(row.tokens_out)}`,
  },
  { title: 'Cost', number: true, cell: (/** @type {any} */ row) => usd(row.cost_usd) },
  { title: 'Project', cell: (/** @type {any} */ row) => row.project },
]

/** @param {any} row */
function modelOf({ model_requested, model }) {
  return model === null || model === model_requested ? model_requested : `${model_requested} → ${model}`
}

/**
 * How a call ended.
 * @param {{ trace: any }} props
 */
export function StatusOf({ trace: { status, status_code, cached } }) {
  const tone =
    status === 'ok' ? 'good' : status === 'cancelled' ? 'calm' : status === 'blocked' ? 'warn' : 'bad'
  return html`<${Badge} tone=${tone}>${status === 'ok' ? (cached ? 'ok, cached' : 'ok') : `${status} ${status_code ?? ''}`}<//>`
}

/**
 * Calls, the newest first. The address has the filter, so that a view can be sent on.
 * @param {{ query: Record<string, string> }} props
 */
export function Traces({ query }) {
  const list = useList('/api/observe/traces', query, 10_000)
  return html`
    <h1>Traces</h1>
    <${Filter} fields=${filters} at="/traces" query=${query} />
    <${Listing} of=${list} items="traces" label="Calls" columns=${columns} empty="No calls fit." at="/traces" query=${query} />
  `
}
