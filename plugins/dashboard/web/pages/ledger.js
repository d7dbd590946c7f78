import { useState } from 'preact/hooks'
import { ask } from '../api.js'
import { html } from '../html.js'
import { Actions } from '../parts/actions.js'
import { column, link, plain, State, time } from '../parts/columns.js'
import { listPage } from '../parts/list-page.js'
import { Facts } from '../parts/table.js'
import { count, when } from '../text.js'

export const tabs = /** @type {const} */ ([
  ['/ledger', 'Entries'],
  ['/ledger/checkpoints', 'Checkpoints'],
])

/** Verifies the chain of the ledger, and says what came of it. */
function Verify() {
  const [found, setFound] = useState(/** @type {any} */ (undefined))
  const verify = async () => setFound(await ask('GET', '/api/trust/ledger/verify'))
  return html`
    <div class="row">
      <${Actions} label="Check" of=${[{ title: 'Verify', main: true, run: verify }]} />
      <a href="/api/trust/ledger/export" download="ledger.jsonl">Export</a>
    </div>
    ${
      found &&
      html`
        <div role="status">
          <${Facts}
            of=${[
              ['Chain', html`<${State} of=${found.valid ? 'valid' : 'invalid'} />`],
              ['Entries', count(found.events_checked)],
              ['Checkpoints', count(found.checkpoints_checked)],
              ['Last hash', html`<code>${found.head_hash}</code>`],
              ['Broken at', plain(found.broken_at_seq)],
              ['Why', plain(found.reason)],
              ['Verified', when(found.verified_at)],
            ]}
          />
        </div>
      `
    }
  `
}

/** The entries of the ledger. */
export const Ledger = listPage({
  at: '/ledger',
  title: 'Ledger',
  tabs,
  path: '/api/trust/ledger',
  items: 'entries',
  label: 'Entries',
  empty: 'No entries fit.',
  everyMs: 15_000,
  above: () => html`<${Verify} />`,
  filters: [
    { name: 'event_type', label: 'Event' },
    { name: 'actor', label: 'Actor' },
    { name: 'resource', label: 'Resource' },
    { name: 'from', label: 'From' },
    { name: 'to', label: 'To' },
  ],
  columns: [
    link('Number', 'seq', ({ id }) => `/ledger/${id}`),
    time('Time', 'created_at'),
    column('Event', 'event_type'),
    column('Action', 'action'),
    column('Actor', 'actor', (actor) => `${actor.type} ${actor.id}`),
    column('Resource', 'resource', (of) => of && `${of.type} ${of.id}`),
    column('Verdict', 'verdict'),
  ],
})
