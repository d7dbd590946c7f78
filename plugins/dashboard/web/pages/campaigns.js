import { html } from '../html.js'
import { useLoad } from '../load.js'
import { TimeChart } from '../parts/chart.js'
import { link, number, state, time } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'
import { share, usd } from '../text.js'

export const tabs = /** @type {const} */ ([
  ['/redteam', 'Campaigns'],
  ['/redteam/vulnerabilities', 'Vulnerabilities'],
])

/** How many attacks have succeeded over time. */
function Trend() {
  const { data } = useLoad('/api/redteam/stats')
  if (!data || data.trend.length === 0) return null
  return html`
    <${TimeChart}
      title="Attacks that succeeded"
      times=${data.trend.map((/** @type {any} */ day) => day.date)}
      lines=${[{ label: 'Share', values: data.trend.map((/** @type {any} */ day) => day.asr), color: '--bad' }]}
      format=${share}
    />
  `
}

/** The campaigns of attacks on this gateway. */
export const Campaigns = listPage({
  at: '/redteam',
  title: 'Red team',
  tabs,
  path: '/api/redteam/campaigns',
  items: 'campaigns',
  label: 'Campaigns',
  empty: 'There are no campaigns.',
  everyMs: 10_000,
  create: ['/redteam/new', 'New campaign'],
  above: () => html`<${Trend} />`,
  columns: [
    link('Name', 'name', ({ id }) => `/redteam/${id}`),
    state('Status', 'status'),
    state('Grade', 'grade'),
    number('Attacks', 'total_attacks'),
    number('Succeeded', 'successful_attacks'),
    number('Share', 'asr', share),
    number('Cost', 'cost_usd', usd),
    time('Changed', 'updated_at'),
  ],
})
