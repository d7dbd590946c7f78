import { ask } from '../api.js'
import { html } from '../html.js'
import { useAction, useLoad } from '../load.js'
import { Badge, Loads, Problem } from '../parts/notice.js'
import { Table } from '../parts/table.js'
import { count, duration, none, share } from '../text.js'

const tones = /** @type {Record<string, 'good' | 'bad' | 'warn' | 'calm'>} */ ({
  healthy: 'good',
  degraded: 'warn',
  down: 'bad',
})

/** Where calls can go, and how it goes there. */
export function Providers() {
  const list = useLoad('/api/proxy/providers', { query: { limit: 500 }, everyMs: 15_000 })
  const columns = [
    { title: 'Provider', cell: (/** @type {any} */ row) => html`${row.name} <code>${row.kind}</code>` },
    {
      title: 'Status',
      cell: (/** @type {any} */ row) => html`<${Badge} tone=${tones[row.status] ?? 'calm'}>${row.status}<//>`,
    },
    { title: 'Circuit', cell: (/** @type {any} */ row) => row.circuit },
    { title: 'Key', cell: (/** @type {any} */ row) => row.key_source ?? none },
    { title: 'Models', number: true, cell: (/** @type {any} */ row) => count(row.models_count) },
    { title: 'Latency', number: true, cell: (/** @type {any} */ row) => duration(row.latency_ms) },
    { title: 'Errors', number: true, cell: (/** @type {any} */ row) => share(row.error_rate) },
    {
      title: 'Check',
      cell: (/** @type {any} */ row) => html`<${Check} provider=${row} reload=${list.reload} />`,
    },
  ]
  return html`
    <h1>Providers</h1>
    <${Loads} of=${list}>
      ${(/** @type {any} */ data) => {
        const rows = [...data.providers].sort(
          (a, b) => Number(a.status === 'unconfigured') - Number(b.status === 'unconfigured'),
        )
        return html`<${Table} label="Providers" columns=${columns} rows=${rows} keyOf=${(/** @type {any} */ row) => row.name} />`
      }}
    <//>
  `
}

/** @param {{ provider: any, reload: () => void }} props */
function Check({ provider: { name, status }, reload }) {
  const { busy, error, run } = useAction()
  if (status === 'unconfigured') return none
  const check = () =>
    run(async () => {
      await ask('POST', `/api/proxy/providers/${encodeURIComponent(name)}/check`)
      reload()
    })
  return html`
    <button type="button" class="quiet" disabled=${busy} onClick=${check} aria-label=${`Check ${name}`}>${busy ? 'Checking' : 'Check'}</button>
    <${Problem} error=${error} />
  `
}
