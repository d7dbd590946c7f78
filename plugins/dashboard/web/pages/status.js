import { html } from '../html.js'
import { useLoad } from '../load.js'
import { Badge, Loads } from '../parts/notice.js'
import { Facts, Table } from '../parts/table.js'
import { count, duration, share, size, span } from '../text.js'

const tones = /** @type {Record<string, 'good' | 'bad' | 'warn'>} */ ({
  healthy: 'good',
  degraded: 'warn',
  down: 'bad',
})

/** How the gateway itself is. */
export function Status() {
  const status = useLoad('/api/status', { everyMs: 10_000 })
  return html`
    <h1>Status</h1>
    <${Loads} of=${status}>
      ${(/** @type {any} */ data) => html`
        <${Facts}
          of=${[
            ['Status', html`<${Badge} tone=${tones[data.status] ?? 'warn'}>${data.status}<//>`],
            ['Version', data.version],
            ['Up', span(data.uptime_seconds)],
            ['Generation', count(data.generation)],
            ['Requests', count(data.total_requests)],
            ['Errors', share(data.error_rate)],
            ['Time in the gateway, p99', duration(data.overhead_p99_ms)],
            ['Memory', size(data.memory?.rss)],
          ]}
        />
        <${Table} label="Components" columns=${components} rows=${Object.entries(data.components)} keyOf=${(/** @type {any} */ [name]) => name} />
      `}
    <//>
  `
}

const components = [
  { title: 'Component', cell: (/** @type {any} */ [name]) => name },
  {
    title: 'Status',
    cell: (/** @type {any} */ [, { status }]) =>
      html`<${Badge} tone=${tones[status] ?? 'warn'}>${status}<//>`,
  },
  { title: 'Detail', cell: (/** @type {any} */ [, { detail }]) => detail },
]
