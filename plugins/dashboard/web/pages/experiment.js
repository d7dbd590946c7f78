import { ask } from '../api.js'
import { html } from '../html.js'
import { Bars } from '../parts/chart.js'
import { column, number, plain, State } from '../parts/columns.js'
import { Detail } from '../parts/detail.js'
import { Empty } from '../parts/notice.js'
import { Table } from '../parts/table.js'
import { duration, share, usd } from '../text.js'

const columns = [
  column('Variant', 'name', (name, { id }) => name ?? id),
  column('Model', 'model'),
  number('Score', 'eval_score', share),
  column('Between', 'ci_low', (low, { ci_high }) => `${share(low)} and ${share(ci_high)}`),
  number('Answers', 'runs'),
  number('Errors', 'errors'),
  number('Cost of one', 'avg_cost_usd', usd),
  number('p95', 'p95_latency_ms', duration),
]

/**
 * One experiment: which variant won, by how much, and whether that is sure.
 * @param {{ id: string }} props
 */
export function Experiment({ id }) {
  const path = `/api/studio/experiments/${encodeURIComponent(id)}`
  const run = () => ask('POST', '/api/studio/experiments/run', { body: { experiment_id: id, wait_ms: 0 } })
  return html`
    <${Detail}
      path=${path}
      everyMs=${5000}
      up=${['/experiments', 'Experiments']}
      title=${(/** @type {any} */ one) => one.name}
      actions=${(/** @type {any} */ one) => [
        one.status === 'draft' && { title: 'Run', main: true, run },
        ['queued', 'running'].includes(one.status) && {
          title: 'Stop',
          run: () => ask('POST', `${path}/stop`),
        },
      ]}
      facts=${(/** @type {any} */ one) => [
        ['Status', html`<${State} of=${one.status} />`],
        ['Done', one.progress ? `${one.progress.done} of ${one.progress.total}` : plain(null)],
        ['Verdict', plain(one.results?.verdict?.replaceAll('_', ' '))],
        ['Winner', plain(one.results?.winner)],
        ['Sure to', share(one.results?.confidence)],
        ['Cost', usd(one.total_cost_usd)],
        ['Error', plain(one.error?.message)],
      ]}
      remove="Its answers go with it."
      json
    >
      ${(/** @type {any} */ { results }) =>
        results
          ? html`
              <p>${results.win_reason}</p>
              <${Bars} title="Score" items=${results.variants.map((/** @type {any} */ one) => ({ name: one.name ?? one.id, value: one.eval_score ?? 0 }))} format=${share} />
              <${Table} label="Variants" columns=${columns} rows=${results.variants} keyOf=${(/** @type {any} */ row) => row.id} />
            `
          : html`<${Empty}>There are no results yet.<//>`}
    <//>
  `
}
