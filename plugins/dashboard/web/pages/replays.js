import { useState } from 'preact/hooks'
import { html } from '../html.js'
import { useLoad } from '../load.js'
import { Bars } from '../parts/chart.js'
import { column, link, number, state, time } from '../parts/columns.js'
import { Fold } from '../parts/fold.js'
import { listPage } from '../parts/list-page.js'
import { OperationForm } from '../parts/operation-form.js'
import { go } from '../router.js'
import { count, duration, share, usd } from '../text.js'

/** @param {{ query: Record<string, string> }} props */
function Above({ query }) {
  const stats = useLoad('/api/replay/stats')
  const [trace] = useState(query.trace)
  return html`
    ${
      stats.data?.model_leaderboard.length > 0 &&
      html`<${Bars} title="Won by model" items=${stats.data.model_leaderboard.map((/** @type {any} */ one) => ({ name: `${one.model}, ${count(one.runs)} runs`, value: one.win_rate }))} format=${share} />`
    }
    <${Fold} title="Ask another model what a past call asked" open=${trace !== undefined}>
      ${() => html`
        <${OperationForm}
          operation="POST /api/replay"
          fields=${['trace_id', 'target_model']}
          values=${trace ? { trace_id: trace } : {}}
          submit="Replay"
          done=${(/** @type {any} */ { id }) => go(`/replays/${id}`)}
        />
      `}
    <//>
  `
}

/** The replays of past calls on other models. */
export const Replays = listPage({
  at: '/replays',
  title: 'Replays',
  path: '/api/replay/runs',
  items: 'runs',
  label: 'Replays',
  empty: 'No call was replayed yet.',
  everyMs: 15_000,
  above: ({ query }) => html`<${Above} query=${query} />`,
  columns: [
    link('Run', 'id', ({ id }) => `/replays/${id}`),
    state('Status', 'status'),
    column('Was asked', 'source', ({ model }) => model),
    column('Is asked', 'target', ({ model }) => model),
    number('Cost', 'delta', (delta) => usd(delta.cost_usd)),
    number('Latency', 'delta', (delta) => duration(delta.latency_ms)),
    number('Alike', 'quality', (quality) => share(quality.similarity)),
    time('Time', 'created_at'),
  ],
})
