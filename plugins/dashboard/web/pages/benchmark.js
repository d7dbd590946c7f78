import { ask } from '../api.js'
import { html } from '../html.js'
import { useList, useLoad } from '../load.js'
import { Bars } from '../parts/chart.js'
import { column, number, plain, state, time } from '../parts/columns.js'
import { Detail } from '../parts/detail.js'
import { Listing } from '../parts/listing.js'
import { Loads } from '../parts/notice.js'
import { Table } from '../parts/table.js'
import { Link } from '../router.js'
import { count, duration, share, usd, when } from '../text.js'

const leaders = [
  column('Model', 'model'),
  number('Score', 'score', share),
  number('Passed', 'pass_rate', share),
  number('Cost', 'cost_usd', usd),
  number('p95', 'p95_latency_ms', duration),
  number('Errors', 'errors'),
]

/**
 * One benchmark: its runs, and how the models did in one of them.
 * @param {{ id: string, query: Record<string, string> }} props
 */
export function Benchmark({ id, query: { run, ...query } }) {
  const path = `/api/studio/benchmarks/${encodeURIComponent(id)}`
  const runs = useList(`${path}/runs`, query, 5000)
  const columns = [
    column(
      'Run',
      'run_id',
      (one) => html`<${Link} to=${`/benchmarks/${id}`} query=${{ run: one }}>${one}<//>`,
    ),
    state('Status', 'status'),
    column('Done', 'progress', ({ done, total }) => `${done} of ${total}`),
    number('Errors', 'errors'),
    number('Cost', 'total_cost_usd', usd),
    time('Began', 'started_at'),
  ]
  const begin = async () => {
    await ask('POST', '/api/studio/benchmarks/run', { body: { benchmark_id: id, wait_ms: 0 } })
    runs.reload()
  }
  return html`
    <${Detail}
      path=${path}
      up=${['/benchmarks', 'Benchmarks']}
      title=${(/** @type {any} */ one) => one.name}
      actions=${() => [{ title: 'Run', main: true, run: begin }]}
      facts=${(/** @type {any} */ one) => [
        ['Cases', count(one.prompts.length)],
        ['Models', plain(one.models.map((/** @type {any} */ model) => model.model ?? model))],
        ['Times each', count(one.runs)],
        ['Costs at most', usd(one.max_cost_usd)],
        ['Changed', when(one.updated_at)],
      ]}
      change=${{ operation: 'PUT /api/studio/benchmarks/{id}', params: { id }, fields: ['name', 'models', 'prompts'] }}
      remove="Its runs go with it."
      json
    >
      ${() => html`
        ${run && html`<${Run} key=${run} path=${`${path}/runs/${encodeURIComponent(run)}`} />`}
        <section>
          <h2>Runs</h2>
          <${Listing} of=${runs} items="runs" label="Runs" columns=${columns} empty="It was not run yet." at=${`/benchmarks/${id}`} query=${query} keyOf=${(/** @type {any} */ row) => row.run_id} />
        </section>
      `}
    <//>
  `
}

/** @param {{ path: string }} props */
function Run({ path }) {
  const run = useLoad(path, { everyMs: 5000 })
  return html`
    <section>
      <h2>How the models did</h2>
      <${Loads} of=${run}>
        ${(/** @type {any} */ { leaderboard = [] }) => html`
          <${Bars} title="Score" items=${leaderboard.map((/** @type {any} */ one) => ({ name: one.model, value: one.score ?? 0 }))} format=${share} />
          <${Table} label="Models" columns=${leaders} rows=${leaderboard} keyOf=${(/** @type {any} */ row) => row.model} />
        `}
      <//>
    </section>
  `
}
