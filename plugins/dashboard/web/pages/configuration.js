import { html } from '../html.js'
import { column, link, time } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'

/** @param {readonly any[]} changes */
const named = (changes) =>
  changes
    .slice(0, 3)
    .map(({ section, key }) => `${section}/${key}`)
    .join(', ') + (changes.length > 3 ? ` and ${changes.length - 3} more` : '')

/** The generations of the configuration. */
export const Configuration = listPage({
  at: '/configuration',
  title: 'Configuration',
  path: '/api/config/history',
  items: 'generations',
  label: 'Generations',
  empty: 'Nothing was set yet.',
  everyMs: 15_000,
  keyOf: ({ generation }) => String(generation),
  above: () => html`<p><a href="/api/config/export" download="switchyard.json">Export what is set</a></p>`,
  columns: [
    link('Generation', 'generation', ({ generation }) => `/configuration/${generation}`),
    time('Time', 'at'),
    column('Kind', 'kind'),
    column('Who', 'actor', (actor) => `${actor.type} ${actor.id}`),
    column('Changes', 'changes', named),
  ],
})
