import { html } from '../html.js'
import { plain } from '../parts/columns.js'
import { Detail } from '../parts/detail.js'
import { Link } from '../router.js'
import { none, when } from '../text.js'

/**
 * One entry of the ledger.
 * @param {{ id: string }} props
 */
export const LedgerEntry = ({ id }) => html`
  <${Detail}
    path=${`/api/trust/ledger/${encodeURIComponent(id)}`}
    up=${['/ledger', 'Ledger']}
    json
    title=${(/** @type {any} */ entry) => `Entry ${entry.seq}`}
    facts=${(/** @type {any} */ entry) => [
      ['Time', when(entry.created_at)],
      ['Event', entry.event_type],
      ['Action', entry.action],
      ['Actor', `${entry.actor.type} ${entry.actor.id}`],
      ['Resource', entry.resource ? `${entry.resource.type} ${entry.resource.id}` : none],
      ['Verdict', plain(entry.verdict)],
      [
        'Trace',
        entry.trace_id ? html`<${Link} to=${`/traces/${entry.trace_id}`}>${entry.trace_id}<//>` : none,
      ],
      ['Hash', html`<code>${entry.hash}</code>`],
      ['Hash before', html`<code>${entry.prev_hash}</code>`],
    ]}
  />
`
