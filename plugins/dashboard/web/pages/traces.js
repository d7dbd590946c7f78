import { useState } from 'preact/hooks'
import { html } from '../html.js'
import { useLoad } from '../load.js'
import { Badge, Empty, Loads } from '../parts/notice.js'
import { Pager, Table } from '../parts/table.js'
import { go, Link } from '../router.js'
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
  const [edits, setEdits] = useState(/** @type {Record<string, string>} */ ({}))
  const list = useLoad('/api/observe/traces', {
    query,
    ...(query.offset === undefined && { everyMs: 10_000 }),
  })
  /** @param {Event} event */
  const submit = (event) => {
    event.preventDefault()
    const { offset: _, ...rest } = query
    go('/traces', { query: { ...rest, ...edits } })
  }
  const clear = () => {
    setEdits({})
    go('/traces')
  }
  const page = (/** @type {number} */ offset) =>
    go('/traces', { query: { ...query, offset: offset || undefined } })
  return html`
    <h1>Traces</h1>
    <form class="filter" role="search" onSubmit=${submit}>
      ${filters.map(({ name, label, choices }) => {
        const shared = {
          name,
          value: edits[name] ?? query[name] ?? '',
          onInput: (/** @type {any} */ event) => setEdits((all) => ({ ...all, [name]: event.target.value })),
        }
        return html`
          <label>
            ${label}
            ${
              choices
                ? html`<select ...${shared}><option value="">Any</option>${choices.map((one) => html`<option>${one}</option>`)}</select>`
                : html`<input ...${shared} />`
            }
          </label>
        `
      })}
      <button type="submit">Filter</button>
      ${
        Object.keys(query).length > 0 &&
        html`<button type="button" class="quiet" onClick=${clear}>Clear</button>`
      }
    </form>
    <${Loads} of=${list}>
      ${(/** @type {any} */ data) =>
        data.traces.length === 0
          ? html`<${Empty}>No calls fit.<//>`
          : html`
              <${Table} label="Calls" columns=${columns} rows=${data.traces} keyOf=${(/** @type {any} */ row) => row.id} />
              <${Pager} list=${data} go=${page} />
            `}
    <//>
  `
}
